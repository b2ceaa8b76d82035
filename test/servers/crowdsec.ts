import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpacked } from './debian-package.ts'

export type CrowdSec = {
  /** Lets an address fail to sign in over SSH often enough for an alert. */
  attack(address: string): void
  log(): string
  close(): Promise<void>
}

type Options = {
  /** Where the agent sends its alerts. */
  url: string
  login: string
  password: string
  /** For an engine that has its own API: the file of a notification plugin, and the profile that uses it. */
  engine?: { port: number; notification: string; profile: string }
}

const ITEMS = [
  'parsers/s00-raw/crowdsecurity/syslog-logs.yaml',
  'parsers/s01-parse/crowdsecurity/sshd-logs.yaml',
  'parsers/s02-enrich/crowdsecurity/dateparse-enrich.yaml',
  'scenarios/crowdsecurity/ssh-bf.yaml',
]

/** Debian’s CrowdSec, which reads one log file. */
export async function startCrowdSec(options: Options): Promise<CrowdSec> {
  const debian = unpacked('crowdsec')
  const hub = join(debian, 'usr/share/crowdsec/hub')
  const folder = mkdtempSync(join(tmpdir(), 'crowdsec-'))
  const own = (...parts: string[]) => join(folder, ...parts)
  for (const path of ['data', 'etc/notifications', 'etc/postoverflows', 'etc/collections'])
    mkdirSync(own(path), { recursive: true })
  for (const item of ITEMS) {
    const enabled = own('etc', item.replace('crowdsecurity/', ''))
    mkdirSync(join(enabled, '..'), { recursive: true })
    symlinkSync(join(hub, item), enabled)
  }
  symlinkSync(join(debian, 'etc/crowdsec/patterns'), own('etc/patterns'))
  writeFileSync(own('auth.log'), '')
  writeFileSync(own('etc/acquis.yaml'), `filenames: [${own('auth.log')}]\nlabels: {type: syslog}\n`)
  const { url, login, password, engine } = options
  writeFileSync(own('etc/credentials.yaml'), `url: ${url}\nlogin: ${login}\npassword: ${password}\n`) // prettier-ignore
  writeFileSync(own('etc/config.yaml'), configuration(folder, debian, engine))
  if (engine) {
    // Debian leaves out the prefix that the engine demands. The plugin runs as nobody.
    mkdirSync(own('plugins'))
    copyFileSync(join(debian, 'usr/lib/crowdsec/plugins/http'), own('plugins/notification-http'))
    chmodSync(own('plugins/notification-http'), 0o755)
    chmodSync(folder, 0o755)
    writeFileSync(own('etc/notifications/portreeve.yaml'), engine.notification)
    writeFileSync(own('etc/profiles.yaml'), engine.profile)
    await add(debian, own('etc/config.yaml'), options)
  }
  const program = join(debian, 'usr/bin/crowdsec')
  const args = ['-c', own('etc/config.yaml'), ...(engine ? [] : ['-no-api'])]
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  return {
    attack(address) {
      const now = new Date()
      const month = now.toLocaleString('en', { month: 'short' })
      const time = `${month} ${String(now.getDate()).padStart(2)} ${now.toTimeString().slice(0, 8)}`
      const line = (n: number) =>
        `${time} host sshd[4${n}]: Failed password for root from ${address} port 4002${n} ssh2\n`
      appendFileSync(own('auth.log'), Array.from({ length: 8 }, (_, n) => line(n)).join(''))
    },
    log: () => said,
    async close() {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true })
    },
  }
}

/** Makes the agent known to the API of its own engine. */
async function add(debian: string, config: string, { login, password }: Options): Promise<void> {
  const path = join(debian, 'usr/bin/cscli')
  const file = config.replace('config.yaml', 'credentials.yaml')
  const before = readFileSync(file)
  const child = spawn(path, ['-c', config, 'machines', 'add', login, '--password', password, '--force'], { stdio: 'ignore' }) // prettier-ignore
  await once(child, 'exit')
  writeFileSync(file, before)
}

function configuration(folder: string, debian: string, engine: Options['engine']): string {
  const own = (path: string) => join(folder, path)
  const server = engine
    ? `  server:
    listen_uri: 127.0.0.1:${engine.port}
    profiles_path: ${own('etc/profiles.yaml')}
`
    : ''
  return `common: {daemonize: false, log_media: stdout, log_level: info, working_dir: .}
config_paths:
  config_dir: ${own('etc/')}
  data_dir: ${own('data/')}
  simulation_path: ${join(debian, 'etc/crowdsec/simulation.yaml')}
  hub_dir: ${join(debian, 'usr/share/crowdsec/hub')}
  index_path: ${join(debian, 'usr/share/crowdsec/hub/.index.json')}
  notification_dir: ${own('etc/notifications/')}
  plugin_dir: ${own('plugins/')}
crowdsec_service: {acquisition_path: ${own('etc/acquis.yaml')}, parser_routines: 1}
cscli: {output: human}
db_config: {type: sqlite, db_path: ${own('data/crowdsec.db')}}
plugin_config: {user: nobody, group: nogroup}
api:
  client: {credentials_path: ${own('etc/credentials.yaml')}}
${server}prometheus: {enabled: false}
`
}
