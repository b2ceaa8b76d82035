import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../errors.ts'
import { ROOT } from '../../version.ts'
import { SERVICES } from '../../abuse/services.ts'

/** Validated options of an installer. All of them become shell code that root runs. */
export type InstallerChoice = {
  token?: string | undefined
  /** Also installs portreeve-blocklist, which blocks listed addresses. */
  block: boolean
  /** Blocks only attackers of the service with this id; of all services by default. */
  blockService?: string | undefined
}

/** Shell functions of the installer, and the file that each of them writes. */
const REPORTING = { file_action: 'portreeve.conf', file_report: 'portreeve-report' }
const BLOCKING = {
  file_blocklist: 'portreeve-blocklist',
  file_service: 'portreeve-blocklist.service',
  file_follow: 'portreeve-blocklist-follow.service',
  file_timer: 'portreeve-blocklist.timer',
  file_cron: 'portreeve-blocklist.cron',
}

const END_OF_FILE = 'END_OF_PORTREEVE_FILE'

/**
 * Returns a POSIX shell script that makes fail2ban on a server report to this service.
 * @param reportsUrl origin of the attack-reporting endpoints
 */
export function installerScript(reportsUrl: string, choice: InstallerChoice): string {
  const files = { ...REPORTING, ...(choice.block ? BLOCKING : {}) }
  const functions = Object.entries(files).map(([name, file]) =>
    writer(name, clientFile(file, reportsUrl)),
  )
  return clientFile('install.sh.template', reportsUrl)
    .replace('# @settings\n', () => settings(reportsUrl, choice))
    .replace('# @files\n', () => functions.join('\n'))
}

/** Returns the action, helper and jail examples in one text, for a manual installation. */
export function fail2banConfig(reportsUrl: string): string {
  const parts = [
    ['/etc/fail2ban/action.d/portreeve.conf', 'portreeve.conf'],
    ['/etc/fail2ban/jail.d/zz-portreeve.local', 'jails.example'],
    ['/usr/local/sbin/portreeve-report (chmod 755)', 'portreeve-report'],
  ] as const
  const rule = '#'.repeat(78)
  const sections = parts.map(
    ([path, file]) => `${rule}\n# ${path}\n${rule}\n\n${clientFile(file, reportsUrl)}`,
  )
  return `${HEADING}\n${sections.join('\n')}`
}

const HEADING = `# Makes fail2ban on a server report to this service. Save each part under its path. Then run
#   fail2ban-client -t && fail2ban-client reload --restart
# A report token, if you have one, is the only line of /etc/portreeve-client/token (owner root, mode 600).
`

/** Reads a client file and inserts the URL of this service. */
function clientFile(name: string, reportsUrl: string): string {
  const text = readFileSync(join(ROOT, 'clients', 'fail2ban', name), 'utf8')
  return text.replaceAll('https://reports.example.com', () => requireShellSafe(reportsUrl))
}

function writer(name: string, content: string): string {
  if (content.includes(END_OF_FILE))
    throw new Error(`the file of ${name} has the line that ends it`)
  return `${name}() {\n  cat <<'${END_OF_FILE}'\n${content}${END_OF_FILE}\n}\n`
}

function settings(
  reportsUrl: string,
  { token = '', block, blockService }: InstallerChoice,
): string {
  const query = blockService === undefined ? '' : `?service=${blockService}`
  const lines = [
    `TOKEN=${quoted(token)}`,
    `BLOCK=${block ? 1 : 0}`,
    ...(block
      ? [
          `BLOCKLIST_URL=${quoted(`${reportsUrl}/api/v1/abuse/export${query}`)}`,
          `FLEET_URL=${quoted(`${reportsUrl}/api/v1/abuse/fleet`)}`,
        ]
      : []),
    '# Services that can be reported, with aliases such as the stock jails.',
    `SERVICES='${serviceNames()}'`,
  ]
  return `${lines.join('\n')}\n`
}

/** Every id and alias with a space on either side, in lines of some hundred characters. */
function serviceNames(): string {
  const names = SERVICES.flatMap(({ id, aliases }) => [id, ...aliases]).map(requireShellSafe)
  return ` ${names.join('  ')} `.replace(/(.{90,}? ) /g, '$1\n ')
}

function quoted(text: string): string {
  return `'${requireShellSafe(text)}'`
}

/**
 * The last check before text from a setting, catalogue or request becomes part of a root shell
 * script.
 */
function requireShellSafe(text: string): string {
  if (/^[\w.:/?=[\]-]*$/.test(text)) return text
  throw new Fault('internal', `“${text}” contains characters that are not allowed in an installer.`)
}
