import type { ChildProcess } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { librariesOf, unpacked } from './debian-package.ts'
import {
  endDaemon,
  endWithProcess,
  greets,
  handOver,
  localhostCertificate,
  serverFolder,
  serverUser,
  startDaemon,
  startTlsFront,
  stopDaemon,
  type MailServer,
} from './mail-server.ts'

export type DovecotOptions = {
  /** Of the personal namespace, such as `INBOX.` */
  prefix?: string
  separator?: '/' | '.'
  /** Folders as Maildir++, as directories of Maildirs, or in Dovecot's own format. */
  layout?: 'mdbox' | 'maildir' | 'maildir-fs'
  /** Advertised capabilities, in place of all. */
  capability?: string
  quota?: string
  /** Offers STARTTLS, with a self-signed certificate for `localhost`. */
  starttls?: boolean
  /**
   * Takes access tokens (XOAUTH2, OAUTHBEARER) of the users that this URL, with the token behind
   * it, answers.
   */
  tokensAt?: string
  /** Takes access tokens that are active at this introspection endpoint (RFC 7662). */
  introspectAt?: string
  /** Attributes of the introspection one of which must be the user: `sub` by default. */
  userAttributes?: string[]
  /** Passwords of master users by name, who sign in as `user*master`. */
  masters?: Record<string, string>
  /** Takes mail over LMTP, which a Sieve script files, and sign-ins for a mail server. */
  delivery?: Delivery
  /** Further lines of its configuration. */
  extra?: string
}

type Delivery = {
  /** Of LMTP, for `USER@any domain`. */
  lmtpPort: number
  /** Of its authentication, for Postfix, where any user has this password. */
  authPort: number
  password: string
  sieve: string
}

const LAYOUTS = {
  mdbox: 'mdbox:~/mdbox',
  maildir: 'maildir:~/Maildir',
  'maildir-fs': 'maildir:~/Maildir:LAYOUT=fs',
}

export type DovecotServer = MailServer & {
  /** Ends it with all of its connections, and starts it again with its mail and on its port. */
  restart(): Promise<void>
}

/**
 * Debian's Dovecot on free ports of 127.0.0.1. Without options it is a port of the one that all tests
 * of this process share, with users and mail of its own; `stop` removes them.
 */
export async function startDovecot(options: DovecotOptions = {}): Promise<DovecotServer> {
  if (Object.keys(options).length === 0) return takePort()
  const port = await freePort()
  const daemon = await startDaemonWith(options, [port])
  const front = await startTlsFront(port)
  return {
    host: '127.0.0.1',
    port,
    tlsPort: front.port,
    addUser: async (name, password) => daemon.addUser(port, name, password),
    restart: () => daemon.restart(),
    async stop() {
      await front.close()
      await daemon.stop()
    },
  }
}

type DovecotDaemon = {
  folder: string
  /** Adds a user of one port. @param home by default that of the name */
  addUser(port: number, name: string, password: string, home?: string): void
  /** No user of this port can sign in any more. */
  removeUsers(port: number): void
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Ports of a shared Dovecot: the most that tests of one file use within two seconds, and some. */
const SHARED_PORTS = 24

/** Dovecot looks for a changed file of users once a second: until then, names are the old users. */
const USERS_KEPT_MS = 2000

const free: { daemon: DovecotDaemon; port: number }[] = []
let starting: Promise<void> | undefined
let taken = 0
/** Files of users. */
let written = 0

/** Starts a shared Dovecot, which ends with this process. */
async function startShared(): Promise<void> {
  const ports = await Promise.all(Array.from({ length: SHARED_PORTS }, freePort))
  const daemon = await startDaemonWith({ extra: REUSED_PROCESSES }, ports, true)
  for (const port of ports) free.push({ daemon, port })
}

/** Starting one for each connection takes a third of the processor time of short ones. */
const REUSED_PROCESSES = `service imap {
  service_count = 1000
}`

async function takePort(): Promise<DovecotServer> {
  while (free.length === 0) {
    starting ??= startShared().finally(() => (starting = undefined))
    await starting
  }
  const place = free.shift() as (typeof free)[number]
  const { daemon, port } = place
  // Connections that earlier tests left open do not see these mailboxes.
  const mail = join(daemon.folder, 'mail', String((taken += 1)))
  const front = await startTlsFront(port)
  return {
    host: '127.0.0.1',
    port,
    tlsPort: front.port,
    addUser: async (name, password) => daemon.addUser(port, name, password, join(mail, name)),
    restart: () => daemon.restart(),
    async stop() {
      await front.close()
      daemon.removeUsers(port)
      rmSync(mail, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
      setTimeout(() => free.push(place), USERS_KEPT_MS).unref()
    },
  }
}

async function startDaemonWith(
  options: DovecotOptions,
  ports: readonly number[],
  endsWithProcess = false,
): Promise<DovecotDaemon> {
  const root = unpacked(options.delivery ? 'dovecot-sieve' : 'dovecot')
  const folder = serverFolder('dovecot')
  const file = (name: string) => join(folder, name)
  const ofPorts = ports.map((port) => `users/${port}`)
  for (const name of ['run/login', 'run/empty', 'mail', ...ofPorts])
    mkdirSync(file(name), { recursive: true })
  for (const name of ['run', 'run/login', 'run/empty']) {
    symlinkSync(join(root, 'usr/lib/dovecot/modules'), file(`${name}/modules`))
  }
  if (options.delivery) writeFileSync(file('before.sieve'), options.delivery.sieve)
  writeFileSync(file('dovecot.conf'), configuration(root, folder, ports, options))
  for (const attribute of attributesOf(options))
    writeFileSync(file(`oauth2-${attribute}.conf`), tokenSettings(options, attribute))
  const masters = Object.entries(options.masters ?? {})
  writeFileSync(file('masters'), masters.map(([name, key]) => `${name}:{PLAIN}${key}\n`).join(''))
  const { cert, key } = localhostCertificate()
  writeFileSync(file('cert.pem'), cert)
  writeFileSync(file('key.pem'), key)
  handOver(folder)
  const env = {
    LD_LIBRARY_PATH: librariesOf(root, 'usr/lib/dovecot', 'usr/lib/dovecot/modules/old-stats'),
  }
  const master = [
    '-c',
    file('dovecot.conf'),
    '-m',
    'master',
    '-e',
    join(root, 'usr/sbin/dovecot'),
    '-F',
  ]
  let guard: ChildProcess | undefined
  const start = async () => {
    const started = startDaemon([join(root, 'usr/bin/doveconf'), ...master], folder, env)
    guard?.kill('SIGKILL')
    if (endsWithProcess) guard = endWithProcess(started, folder)
    await greets(ports[0] as number, started, () =>
      existsSync(file('log')) ? readFileSync(file('log'), 'utf8') : 'no log',
    )
    return started
  }
  let daemon = await start()
  const { uid, gid } = owner()
  return {
    folder,
    addUser(port, name, password, home) {
      const from = home && `userdb_uid=${uid} userdb_gid=${gid} userdb_home=${home}`
      const path = file(`users/${port}/${name}`)
      writeFileSync(path, `${name}:{PLAIN}${password}::::::${from ?? ''}\n`)
      // Dovecot compares sizes and times in whole seconds: it would keep an earlier test’s mailbox.
      written += 1
      utimesSync(path, written, written)
    },
    removeUsers(port) {
      const users = file(`users/${port}`)
      for (const name of readdirSync(users)) rmSync(join(users, name))
    },
    async restart() {
      await endDaemon(daemon)
      daemon = await start()
    },
    async stop() {
      await stopDaemon(daemon, folder)
    },
  }
}

/** Whom Dovecot runs as. */
function owner(): { name: string; uid: number; gid: number } {
  return (
    serverUser() ?? {
      name: process.env['USER'] ?? 'nobody',
      uid: process.getuid?.() ?? 0,
      gid: process.getgid?.() ?? 0,
    }
  )
}

const attributesOf = ({ userAttributes = ['sub'] }: DovecotOptions) => userAttributes

function tokenSettings({ tokensAt, introspectAt }: DovecotOptions, attribute: string): string {
  return introspectAt === undefined
    ? `tokeninfo_url = ${tokensAt}\nusername_attribute = user\n`
    : `introspection_url = ${introspectAt}
introspection_mode = post
username_attribute = ${attribute}
active_attribute = active
active_value = true
`
}

function configuration(
  root: string,
  folder: string,
  ports: readonly number[],
  options: DovecotOptions,
): string {
  const {
    prefix = '',
    separator = '/',
    layout = 'mdbox',
    capability,
    quota,
    starttls = false,
    tokensAt,
    introspectAt,
    masters,
    delivery,
    extra = '',
  } = options
  const takesTokens = (tokensAt ?? introspectAt) !== undefined
  const own = owner()
  return `
base_dir = ${folder}/run
state_dir = ${folder}/run
libexec_dir = ${root}/usr/lib/dovecot
mail_plugin_dir = ${root}/usr/lib/dovecot/modules
import_environment = TZ LD_LIBRARY_PATH
log_path = ${folder}/log
protocols = imap ${delivery ? 'lmtp' : ''}
default_internal_user = ${own.name}
default_login_user = ${own.name}
default_internal_group = $ENV:GROUP
service config {
  executable = config -c ${folder}/dovecot.conf
}
service anvil {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = 0
  }
${ports.map((port) => `  inet_listener imap${port} {\n    address = 127.0.0.1\n    port = ${port}\n  }`).join('\n')}
  inet_listener imaps {
    port = 0
  }
  service_count = 0
  process_limit = 4
  client_limit = 200
}
service imap {
  process_limit = 200
}
ssl = ${starttls ? 'yes' : 'no'}
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
disable_plaintext_auth = no
auth_mechanisms = plain login ${takesTokens ? 'xoauth2 oauthbearer' : ''}
auth_failure_delay = 0
${
  masters === undefined
    ? ''
    : `auth_master_user_separator = *
passdb {
  driver = passwd-file
  args = ${folder}/masters
  master = yes
  # The user must exist too.
  result_success = continue
}`
}
passdb {
  driver = passwd-file
  args = username_format=%u ${folder}/users/%a/%u
}
${
  takesTokens
    ? attributesOf(options)
        .map(
          (attribute) => `passdb {
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = ${folder}/oauth2-${attribute}.conf
}`,
        )
        .join('\n')
    : ''
}
userdb {
  driver = prefetch
}
userdb {
  driver = static
  args = uid=${own.uid} gid=${own.gid} home=${folder}/mail/%u ${delivery ? 'allow_all_users=yes' : ''}
}
first_valid_uid = 1
mail_location = ${LAYOUTS[layout]}
mail_max_userip_connections = 0
namespace inbox {
  inbox = yes
  prefix = ${prefix}
  separator = ${separator}
  mailbox Drafts {
    special_use = \\Drafts
  }
  mailbox Sent {
    special_use = \\Sent
  }
  mailbox Trash {
    special_use = \\Trash
  }
}
${capability === undefined ? '' : `imap_capability = ${capability}`}
${
  quota === undefined
    ? ''
    : `mail_plugins = quota
protocol imap {
  mail_plugins = quota imap_quota
}
plugin {
  quota = count:User quota
  quota_rule = *:storage=${quota}
  quota_vsizes = yes
}`
}
# Sign-ins after rejected ones are delayed, for all users of an address.
service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
${delivery ? deliverySettings(folder, delivery) : ''}
${extra}
`.replace('$ENV:GROUP', groupName(own.gid))
}

function groupName(gid: number): string {
  const line = readFileSync('/etc/group', 'utf8')
    .split('\n')
    .find((entry) => entry.split(':')[2] === String(gid))
  return line?.split(':')[0] ?? 'nogroup'
}

function deliverySettings(folder: string, { lmtpPort, authPort, password }: Delivery): string {
  const listener = (name: string, port: number) =>
    `inet_listener ${name} {\n    address = 127.0.0.1\n    port = ${port}\n  }`
  return `
auth_username_format = %Ln
service lmtp {
  ${listener('lmtp', lmtpPort)}
}
service auth {
  ${listener('postfix', authPort)}
}
passdb {
  driver = static
  args = password=${password}
}
protocol lmtp {
  mail_plugins = sieve
  postmaster_address = postmaster@localhost
}
plugin {
  sieve_before = ${folder}/before.sieve
  sieve_extensions = +editheader
}
lda_mailbox_autocreate = yes
`
}
