import { readdirSync, readFileSync } from "node:fs";

import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";

import { generate } from "./generate.mjs";
import type { Project } from "./project.ts";

interface InvalidExample {
  pointer: string;
  document: unknown;
  semantic?: boolean;
}

const readText = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), "utf8"));
const examples = (folder: string): string[] => {
  const names = readdirSync(new URL(`../examples/${folder}/`, import.meta.url));
  expect(names.length).toBeGreaterThan(0);
  return names.map((name) => `examples/${folder}/${name}`);
};

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const validate = ajv.compile<Project>(readText("json/project.schema.json") as object);

describe("project.schema.json", () => {
  it.each(examples("valid"))("accepts %s", (path) => {
    expect(validate(readText(path)), JSON.stringify(validate.errors)).toBe(true);
  });

  it.each(examples("invalid"))("refuses %s unless only the service can", (path) => {
    const example = readText(path) as InvalidExample;
    // Examples with `semantic` break rules that a schema cannot express. Only the service checks
    // them.
    expect(validate(example.document)).toBe(example.semantic === true);
    if (example.semantic !== true) {
      const pointers = validate.errors?.map((error) => error.instancePath);
      expect(pointers).toContain(example.pointer);
    }
  });
});

describe("project.ts", () => {
  it("equals the types that the schema generates", async () => {
    const committedText = readFileSync(new URL("project.ts", import.meta.url), "utf8");
    expect(committedText, 'run "npm run generate" in schemas/').toBe(await generate());
  });
});
