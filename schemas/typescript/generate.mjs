// Writes project.ts from the JSON Schema: `npm run generate`.
import { readFile, writeFile } from "node:fs/promises";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";

import { compile } from "json-schema-to-typescript";

const SCHEMA = new URL("../json/project.schema.json", import.meta.url);
const TYPES = new URL("project.ts", import.meta.url);

const BANNER = `// Generated from json/project.schema.json by "npm run generate"; never edited.
`;

/** Returns the TypeScript types of the current schema. */
export async function generate() {
  const schema = JSON.parse(await readFile(SCHEMA, "utf8"));
  return compile(schema, "Project", {
    // A document may have fields that the schema does not define, but code that uses such a field
    // is a type error.
    additionalProperties: false,
    bannerComment: BANNER,
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: false,
    format: true,
    style: { printWidth: 110 },
  });
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  await writeFile(TYPES, await generate());
}
