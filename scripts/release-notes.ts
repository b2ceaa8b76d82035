// `node scripts/release-notes.ts 0.3.0`: prints the part of CHANGELOG.md about a release.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../src/version.ts'
import { ROOT } from './run.ts'

/**
 * The notes of a version, without its heading.
 * @throws when the changelog has no dated part about it
 */
export function releaseNotes(changelog: string, version: string): string {
  const [, ...parts] = changelog.split(/^## /m)
  const heading = `[${version}] - `
  const part = parts.find((each) => each.startsWith(heading))
  if (!part || !/^\d{4}-\d\d-\d\d\n/.test(part.slice(heading.length)))
    throw new Error(`CHANGELOG.md has no part “## ${heading}YYYY-MM-DD”`)
  return part
    .slice(part.indexOf('\n'))
    .replace(/^\[[^\]]+\]: .*$/gm, '')
    .trim()
}

if (import.meta.main) {
  const [, , version = ''] = process.argv
  if (version !== VERSION)
    throw new Error(`package.json has version ${VERSION}, and the tag is of ${version}`)
  console.log(releaseNotes(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version))
}
