/**
 * Whether a file is in the build context, by the rules of `.dockerignore`: a pattern is a path or a
 * folder with all below it, the last match counts, and `!` lets in again.
 */
export function isInContext(ignoreFile: string, path: string): boolean {
  const lines = ignoreFile.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const last = lines.findLast((line) => patternOf(line.replace('!', '')).test(path))
  return last === undefined || last.startsWith('!')
}

function patternOf(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('**/', '\0')
    .replaceAll('*', '[^/]*')
    .replaceAll('\0', '(?:.*/)?')
  return new RegExp(`^${source}(?:/|$)`)
}
