import { describe, expect, it } from 'vitest';

import { revisionOfEtag } from '../src/api/client';
import { EventSplitter } from '../src/api/task-events';
import { contentHash, versionPage, versionScript, versionStyle } from '../build/versioned-references';

describe('server-sent events', () => {
  it('are read in full wherever the stream is split', () => {
    const splitter = new EventSplitter();
    const text = ': hello\n\nevent: task\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: {"b":2}\n\ndata: half';
    const events = [...text].flatMap((character) => splitter.push(character));
    expect(events).toEqual(['{"a":\n1}', '{"b":2}']);
  });
});

describe('revisions', () => {
  it.each([
    ['"12"', 12],
    ['W/"3"', 3],
    ['"abc"', null],
    [null, null],
  ])('are read from the ETag %j', (etag, revision) => {
    expect(revisionOfEtag(etag)).toBe(revision);
  });
});

describe('versioned references', () => {
  it('carry the build, which the page names in a meta tag', () => {
    const html = '<head><script src="/assets/index.js"></script><link href="/assets/a.css"><a href="https://x.test/">';
    const page = versionPage(html, 'beef');
    expect(page).toContain('src="/assets/index.js?v=beef"');
    expect(page).toContain('href="/assets/a.css?v=beef"');
    expect(page).toContain('href="https://x.test/"');
    expect(page).toContain('<meta name="songfoundry-build" content="beef" />');
  });

  it('carry the hash of each font, and leave other addresses unchanged', () => {
    const css = 'a{src:url(/assets/inter.woff2) b}c{background:url("data:x")}';
    expect(versionStyle(css, (name) => (name === 'inter.woff2' ? '12' : null))).toBe(
      'a{src:url(/assets/inter.woff2?v=12) b}c{background:url("data:x")}',
    );
  });

  it('are the same in the page and in the scripts that import each other', () => {
    const code = 'import{a}from"./index-a1.js";const b=()=>import(`./part-b2.js`),c="./other.js";';
    expect(versionScript(code, new Set(['index-a1.js', 'part-b2.js']), 'beef')).toBe(
      'import{a}from"./index-a1.js?v=beef";const b=()=>import(`./part-b2.js?v=beef`),c="./other.js";',
    );
  });

  it('have a hash that depends only on the content', () => {
    expect(contentHash(['a', 'b'])).toBe(contentHash(['ab']));
    expect(contentHash(['a'])).not.toBe(contentHash(['b']));
  });
});
