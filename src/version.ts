import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The package's folder, above `src` in a checkout and above the bundle in `dist` where it is installed. */
export const ROOT = join(import.meta.dirname, '..')

/** The package's version, `major.minor.patch`. */
export const VERSION: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version

/** The file of a package with the commit that it was built from. */
export const COMMIT_FILE = join(ROOT, 'dist', 'commit')

/**
 * The commit that this program was built from, or that is checked out; null where neither is known.
 */
export function findCommit(): string | null {
  if (!existsSync(join(ROOT, 'src')))
    return existsSync(COMMIT_FILE) ? readFileSync(COMMIT_FILE, 'utf8').trim() || null : null
  const options = { cwd: ROOT, encoding: 'utf8' } as const
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], options)
  return status === 0 ? stdout.trim() : null
}
