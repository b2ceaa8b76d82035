/** RFC 9110, 13.1.2: compared weakly; both encodings hold the same list. */
export function isKnown(header: string | undefined, etag: string): boolean {
  if (header?.trim() === '*') return true
  const tags = [...(header ?? '').matchAll(/(?:W\/)?"([^"]*)"/g)].map(([, tag]) => tag)
  return tags.includes(etag) || tags.includes(`${etag}-gzip`)
}
