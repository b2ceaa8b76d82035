import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The package's folder, above `src` in a checkout and above the bundle in `dist` where it is installed. */
export const ROOT = join(import.meta.dirname, '..')

/** The package's version, `major.minor.patch`. */
export const VERSION: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version
