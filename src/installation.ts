import { existsSync, readFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { parseEnv } from 'node:util'
import { Fault, messageOf } from './errors.ts'
import { ROOT } from './version.ts'

type Variables = Record<string, string | undefined>

/** Where a service on this machine has its settings and its data. */
export type Installation = {
  /** Its settings by name: those of the process, then those of the file. */
  variables: Variables
  /** The file that was read; null without one. */
  file: string | null
  /** A file with the settings that this user may not read; null when there is none. */
  unreadable: string | null
}

/** Settings of the package’s systemd unit, and the data folder of that unit. */
export const SYSTEM_FILE = '/etc/portreeve/portreeve.env'
const SYSTEM_DATA_DIR = '/var/lib/portreeve'

/**
 * Finds the installation that a command belongs to. Variables of the process win over a file: the
 * one named by PORTREEVE_ENV_FILE, that of the systemd unit, or `.env` of the folder. A checkout has
 * its own settings, never those of the unit. DATA_DIR or DATABASE_URL of another installation leave
 * out the file of the unit.
 * @param process variables of the process
 * @param folder its working folder
 * @throws Fault `invalid_request` when the named file cannot be read
 */
export function findInstallation(process: Variables, folder: string): Installation {
  const named = process['PORTREEVE_ENV_FILE']
  if (named) return namedInstallation(process, resolve(folder, named))
  if (existsSync(join(ROOT, 'src'))) return folderInstallation(process, aboveIn(ROOT, folder))
  return unitInstallation(process, folder) ?? folderInstallation(process, folder)
}

/** The checkout for a folder in it, where `npm run up` starts the service. */
function aboveIn(root: string, folder: string): string {
  return `${folder}${sep}`.startsWith(`${root}${sep}`) ? root : folder
}

function folderInstallation(process: Variables, folder: string): Installation {
  const file = join(folder, '.env')
  const isThere = existsSync(file)
  const inFile = isThere ? parseEnv(readFileSync(file, 'utf8')) : {}
  const isDemo = (process['DEMO'] || inFile['DEMO']) === 'true'
  const dataDir = isDemo ? join(tmpdir(), `portreeve-demo-${userInfo().uid}`) : join(folder, 'data')
  const variables = merge({ DATA_DIR: dataDir, ...inFile }, process)
  return { variables, file: isThere ? file : null, unreadable: null }
}

/** The installation of the unit; null when there is none, or the process names another. */
function unitInstallation(process: Variables, folder: string): Installation | null {
  try {
    const settings = readSystemFile(SYSTEM_FILE)
    if (namesAnother(process, settings)) return null
    return { variables: merge(settings, process), file: SYSTEM_FILE, unreadable: null }
  } catch (error) {
    const isExplicit = process['DATA_DIR'] || process['DATABASE_URL']
    if ((error as NodeJS.ErrnoException).code !== 'EACCES' || isExplicit) return null
    return { ...folderInstallation(process, folder), unreadable: SYSTEM_FILE }
  }
}

function namedInstallation(process: Variables, file: string): Installation {
  try {
    return { variables: merge(readSystemFile(file), process), file, unreadable: null }
  } catch (cause) {
    const sentence = `PORTREEVE_ENV_FILE cannot be read: ${messageOf(cause)}.`
    throw new Fault('invalid_request', sentence, { cause, suggestion: 'run the command as root' })
  }
}

const readSystemFile = (file: string): Variables => ({
  DATA_DIR: SYSTEM_DATA_DIR,
  ...parseEnvironmentFile(readFileSync(file, 'utf8')),
})

/** Compose passes settings that are not set as empty ones. */
const merge = (settings: Variables, process: Variables): Variables => ({
  ...settings,
  ...process,
  DATA_DIR: process['DATA_DIR'] || settings['DATA_DIR'],
})

/** Whether the process names another data folder or database than the file. */
function namesAnother(process: Variables, inFile: Variables): boolean {
  const { DATA_DIR: folder, DATABASE_URL: url } = process
  const isOtherFolder = folder && resolve(folder) !== resolve(inFile['DATA_DIR'] ?? '')
  return Boolean(isOtherFolder || (url && url !== inFile['DATABASE_URL']))
}

const ASSIGNMENT =
  /^[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*((?:(?:'[^']*'|"(?:[^"\\]|\\[^])*")[ \t]*)*)((?:\\[^]|[^\n\\])*)$/gm
const QUOTED = /'([^']*)'|"((?:[^"\\]|\\[^])*)"/g

/**
 * Parses a file as systemd does for `EnvironmentFile=` (systemd.exec): a `#` within a value is part
 * of it, unlike in `.env`.
 */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const entries = [...text.replace(/^\uFEFF/, '').matchAll(ASSIGNMENT)].map(
    ([, name = '', quoted = '', plain = '']) => {
      const parts = [...quoted.matchAll(QUOTED)].map(
        ([, single, double = '']) =>
          single ?? double.replaceAll('\\\n', '').replaceAll(/\\(["\\`$])/g, '$1'),
      )
      const rest = plain.replaceAll('\\\n', '').replaceAll(/\\([^])/g, '$1')
      return [name, [...parts, rest.trimEnd()].join('')] as const
    },
  )
  return Object.fromEntries(entries)
}
