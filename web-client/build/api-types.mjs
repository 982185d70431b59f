// Writes src/api/generated/schema.ts from the service's OpenAPI document, for
// `scripts/generate-client`.
//
//   node build/api-types.mjs DOCUMENT            writes the file
//   node build/api-types.mjs DOCUMENT --check    fails if the file differs from the document
import { readFile, writeFile } from 'node:fs/promises';
import { argv, exit } from 'node:process';

import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const TYPES = new URL('../src/api/generated/schema.ts', import.meta.url);
const PROJECT = '#/components/schemas/Project';

const HEAD = `// Generated from the service's OpenAPI document by "scripts/generate-client"; never edited.
import type * as project from '@songfoundry/schemas';

`;

/**
 * Returns a reference to a project type of @songfoundry/schemas, which is generated from the same
 * schema; undefined for a schema that is not part of the project.
 */
function projectType(_, { path }) {
  if (path !== PROJECT && !path?.startsWith(`${PROJECT}.`)) return undefined;
  const name = path === PROJECT ? 'Project' : path.slice(PROJECT.length + 1);
  return ts.factory.createTypeReferenceNode(`project.${name}`);
}

/**
 * Returns the operations with only their successful answers, because the page throws failures as
 * problems. Also removes the examples.
 */
function successesOf(paths) {
  const keptPaths = JSON.parse(JSON.stringify(paths, (name, value) => (name === 'example' ? undefined : value)));
  for (const operation of Object.values(keptPaths).flatMap(Object.values)) {
    const answers = Object.entries(operation.responses).filter(([status]) => /^2/.test(status));
    operation.responses = Object.fromEntries(answers);
  }
  return keptPaths;
}

async function generate(document) {
  const paths = successesOf(document.paths);
  const all = Object.entries(document.components.schemas);
  const otherSchemas = all.filter(([name]) => !/^Project(\.|$)/.test(name));
  const namedTypes = new Set(JSON.stringify([paths, otherSchemas]).match(/#\/components\/schemas\/Project[\w.]*/g));
  const placeholders = [...namedTypes].map((name) => [name.slice('#/components/schemas/'.length), { type: 'object' }]);
  // Other schemas come last, so that they replace placeholders of the same name.
  const schemas = Object.fromEntries([...placeholders, ...otherSchemas]);
  const reducedDocument = { ...document, paths, components: { ...document.components, schemas } };
  return HEAD + astToString(await openapiTS(reducedDocument, { transform: projectType, emptyObjectsUnknown: true, silent: true }));
}

const [, , path, check] = argv;
const types = await generate(JSON.parse(await readFile(path, 'utf8')));
if (check === '--check') {
  if (types !== (await readFile(TYPES, 'utf8'))) {
    console.error("web-client/src/api/generated/schema.ts differs from the service's OpenAPI document; run scripts/generate-client");
    exit(1);
  }
} else {
  await writeFile(TYPES, types);
}
