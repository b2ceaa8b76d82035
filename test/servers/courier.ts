import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
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

/** The settings of Debian’s /etc/courier/imapd, without limits on connections. */
const SETTINGS = {
  IMAP_CAPABILITY:
    'IMAP4rev1 UIDPLUS CHILDREN NAMESPACE THREAD=ORDEREDSUBJECT THREAD=REFERENCES SORT QUOTA IDLE',
  IMAP_KEYWORDS: '1',
  IMAP_ACL: '1',
  IMAP_IDLE_TIMEOUT: '60',
  IMAP_MAILBOX_SANITY_CHECK: '0',
  IMAP_USELOCKS: '1',
  IMAP_ENHANCEDIDLE: '0',
  IMAP_TRASHFOLDERNAME: 'Trash',
  IMAP_EMPTYTRASH: 'Trash:7',
  PROTOCOL: 'IMAP',
  MAILDIRPATH: 'Maildir',
}

export type CourierOptions = {
  /** Bytes that a user may have. */
  quota?: number
}

export type Courier = MailServer & {
  /** Sets a user’s quota in bytes. */
  raiseQuota(name: string, bytes: number): void
  /** The Maildir of a user. */
  folderOf(name: string): string
}

type User = { password: string; home: string }

/** Debian's Courier IMAP on free ports of 127.0.0.1. */
export async function startCourier({ quota }: CourierOptions = {}): Promise<Courier> {
  const root = unpacked('courier')
  const folder = serverFolder('courier')
  const port = await freePort()
  const users = new Map<string, User>()
  const authority = await startAuthority(join(folder, 'socket'), users)
  handOver(folder)
  const env = {
    ...SETTINGS,
    LD_LIBRARY_PATH: librariesOf(root, 'usr/lib', 'usr/lib/courier-authlib'),
    // Without this folder watcher, every command waits for more than a second. It ends by itself.
    GAMIN_DEBUG_SERVER: join(root, 'usr/libexec/gam_server'),
  }
  const tcpd = [
    '-address=127.0.0.1',
    '-maxprocs=200',
    '-maxperip=200',
    '-nodnslookup',
    '-noidentlookup',
    String(port),
  ]
  const login = [
    join(root, 'usr/lib/courier/courier/imaplogin'),
    join(root, 'usr/bin/imapd'),
    'Maildir',
  ]
  const allow = (home: string, bytes: number) =>
    writeFileSync(join(home, 'Maildir/maildirsize'), `${bytes}S\n`)
  const daemon = startDaemon([join(root, 'usr/sbin/couriertcpd'), ...tcpd, ...login], folder, env)
  await greets(port, daemon, () => 'Courier logs to syslog alone')
  const front = await startTlsFront(port)
  return {
    host: '127.0.0.1',
    port,
    tlsPort: front.port,
    async addUser(name, password) {
      const home = join(folder, 'mail', name)
      for (const part of ['cur', 'new', 'tmp'])
        mkdirSync(join(home, 'Maildir', part), { recursive: true })
      if (quota !== undefined) allow(home, quota)
      handOver(join(folder, 'mail'))
      users.set(name, { password, home })
    },
    folderOf: (name) => join(users.get(name)?.home ?? '', 'Maildir'),
    raiseQuota: (name, bytes) => allow(users.get(name)?.home ?? '', bytes),
    async stop() {
      await front.close()
      authority.close()
      await stopDaemon(daemon, folder)
    },
  }
}

/**
 * Stands in for authdaemond: `AUTH length`, then service, `login`, user and password, a line each.
 */
async function startAuthority(path: string, users: Map<string, User>): Promise<Server> {
  const { uid, gid } = serverUser() ?? {
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
  }
  const answer = (socket: Socket, request: string) => {
    const [, , name = '', password = ''] = request.split('\n')
    const user = users.get(name)
    if (!user || user.password !== password) return socket.end('FAIL\n')
    return socket.end(
      `UID=${uid}\nGID=${gid}\nHOME=${user.home}\nADDRESS=${name}\nMAILDIR=${user.home}/Maildir\n.\n`,
    )
  }
  const server = createServer((socket) => {
    let request = ''
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        request += String(bytes)
        const match = /^AUTH (\d+)\n/m.exec(request)
        const asked = match && request.slice(match.index + match[0].length)
        if (asked && asked.length >= Number(match[1])) answer(socket, asked)
      })
  }).listen(path)
  await once(server, 'listening')
  chmodSync(path, 0o777)
  return server
}
