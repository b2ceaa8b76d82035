import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { librariesOf, unpacked } from './debian-package.ts'
import {
  endDaemon,
  freePort,
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
  /** Further lines of its configuration. */
  extra?: string
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

/** Debian's Dovecot on free ports of 127.0.0.1. */
export async function startDovecot(options: DovecotOptions = {}): Promise<DovecotServer> {
  const root = unpacked('dovecot')
  const folder = serverFolder('dovecot')
  const port = await freePort()
  const file = (name: string) => join(folder, name)
  for (const name of ['run/login', 'run/empty', 'mail', 'users'])
    mkdirSync(file(name), { recursive: true })
  for (const name of ['run', 'run/login', 'run/empty']) {
    symlinkSync(join(root, 'usr/lib/dovecot/modules'), file(`${name}/modules`))
  }
  writeFileSync(file('dovecot.conf'), configuration(root, folder, port, options))
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
  const start = async () => {
    const started = startDaemon([join(root, 'usr/bin/doveconf'), ...master], folder, env)
    await greets(port, started, () =>
      existsSync(file('log')) ? readFileSync(file('log'), 'utf8') : 'no log',
    )
    return started
  }
  let daemon = await start()
  const front = await startTlsFront(port)
  return {
    host: '127.0.0.1',
    port,
    tlsPort: front.port,
    async addUser(name, password) {
      writeFileSync(file(`users/${name}`), `${name}:{PLAIN}${password}\n`)
    },
    async restart() {
      await endDaemon(daemon)
      daemon = await start()
    },
    async stop() {
      await front.close()
      await stopDaemon(daemon, folder)
    },
  }
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
  port: number,
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
    extra = '',
  } = options
  const takesTokens = (tokensAt ?? introspectAt) !== undefined
  const user = serverUser()
  const own = user ?? {
    name: process.env['USER'] ?? 'nobody',
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
  }
  return `
base_dir = ${folder}/run
state_dir = ${folder}/run
libexec_dir = ${root}/usr/lib/dovecot
mail_plugin_dir = ${root}/usr/lib/dovecot/modules
import_environment = TZ LD_LIBRARY_PATH
log_path = ${folder}/log
protocols = imap
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
    address = 127.0.0.1
    port = ${port}
  }
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
  args = username_format=%u ${folder}/users/%u
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
  driver = static
  args = uid=${own.uid} gid=${own.gid} home=${folder}/mail/%u
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
${extra}
`.replace('$ENV:GROUP', groupName(own.gid))
}

function groupName(gid: number): string {
  const line = readFileSync('/etc/group', 'utf8')
    .split('\n')
    .find((entry) => entry.split(':')[2] === String(gid))
  return line?.split(':')[0] ?? 'nogroup'
}
