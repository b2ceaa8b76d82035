import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { librariesOf, unpacked } from './debian-package.ts'
import {
  greets,
  handOver,
  serverFolder,
  serverUser,
  startDaemon,
  startTlsFront,
  stopDaemon,
  type MailServer,
} from './mail-server.ts'

export type CyrusOptions = {
  /** Folders beside INBOX (`Sent`) in place of below it (`INBOX.Sent`). */
  altNamespace?: boolean
  separator?: '/' | '.'
}

/** Debian's Cyrus IMAP on free ports of 127.0.0.1. */
export async function startCyrus(options: CyrusOptions = {}): Promise<MailServer> {
  const root = unpacked('cyrus')
  const folder = serverFolder('cyrus')
  const port = await freePort()
  const file = (name: string) => join(folder, name)
  for (const name of ['conf/db', 'conf/socket', 'conf/proc', 'spool', 'run'])
    mkdirSync(file(name), { recursive: true })
  writeFileSync(file('imapd.conf'), configuration(folder, options))
  writeFileSync(file('cyrus.conf'), services(root, folder, port))
  handOver(folder)
  const env = { LD_LIBRARY_PATH: librariesOf(root) }
  const master = [
    join(root, 'usr/lib/cyrus/bin/master'),
    '-D',
    '-C',
    file('imapd.conf'),
    '-M',
    file('cyrus.conf'),
    '-p',
    file('run/pid'),
  ]
  const daemon = startDaemon(master, folder, env)
  await greets(port, daemon, () => 'Cyrus logs to syslog alone')
  const front = await startTlsFront(port)
  return {
    host: '127.0.0.1',
    port,
    tlsPort: front.port,
    async addUser(name, password) {
      const { uid, gid } = serverUser() ?? {}
      const args = ['-p', '-c', '-f', file('sasldb2'), '-u', 'localhost', name]
      const { status, stderr } = spawnSync(join(root, 'usr/sbin/saslpasswd2'), args, {
        env,
        uid,
        gid,
        input: password,
      })
      if (status !== 0) throw new Error(`saslpasswd2: ${String(stderr)}`)
    },
    async stop() {
      await front.close()
      await stopDaemon(daemon, folder)
    },
  }
}

function configuration(
  folder: string,
  { altNamespace = false, separator = '.' }: CyrusOptions,
): string {
  return `configdirectory: ${folder}/conf
defaultpartition: default
partition-default: ${folder}/spool
admins: admin
cyrus_user: ${serverUser()?.name ?? process.env['USER'] ?? 'nobody'}
servername: localhost
loginrealms: localhost
allowplaintext: yes
altnamespace: ${altNamespace ? 'yes' : 'no'}
unixhierarchysep: ${separator === '/' ? 'yes' : 'no'}
autocreate_quota: 0
autocreate_users: anyone
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: ${folder}/sasldb2
sasl_mech_list: PLAIN LOGIN
specialuse_extra: \\All
proc_path: ${folder}/conf/proc
mboxname_lockpath: ${folder}/run/lock
`
}

function services(root: string, folder: string, port: number): string {
  const program = (name: string) => `${root}/usr/lib/cyrus/bin/${name} -C ${folder}/imapd.conf`
  return `START {
  recover cmd="${program('ctl_cyrusdb')} -r"
}
SERVICES {
  imap cmd="${program('imapd')} -U 30" listen="127.0.0.1:${port}" prefork=2 proto="tcp4"
}
EVENTS {
}
`
}
