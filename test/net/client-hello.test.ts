import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import nodeTls, {
  connect,
  getCACertificates,
  setDefaultCACertificates,
  type PeerCertificate,
} from 'node:tls'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGuardedFetch } from '../../src/net/http/guarded-fetch.ts'
import { askService } from '../../src/net/http/event-stream.ts'
import { forward } from '../../src/net/http/forward.ts'
import { getSmall } from '../../src/net/http/get-small.ts'
import { post } from '../../src/net/http/post.ts'
import { signIn } from '../../src/net/imap/connection/imap-session.ts'
import { sendMail } from '../../src/net/smtp.ts'
import { probeTls } from '../../src/net/tls/probe-tls.ts'
import { STARTTLS } from '../../src/net/tls/starttls.ts'
import { openDatabase } from '../../src/store/database.ts'
import { openS3Store } from '../../src/store/archive/s3-store.ts'
import { mapResolver } from '../resolver.ts'
import { makeAuthority, makeCertificate } from '../servers/certificates.ts'
import { listen, type Listening } from '../servers/listen.ts'
import { SCRIPTS, startTlsServer, type TcpServer } from '../servers/tls.ts'

/** Some mail servers hang at records that do not fit into one packet. */
const SHORT_BYTES = 512

/** The lengths of the first TLS record of each connection, from its header. */
const lengths: number[] = []
const GREETINGS = [
  '220 mail ESMTP\r\n',
  '* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n',
  '+OK\r\n',
]

let servers: { tls: Listening; greeting: Record<string, Listening> }
beforeAll(async () => {
  const silent = await Promise.all([
    listen(record),
    ...GREETINGS.map((text) => talk(text)),
    talk(''),
  ])
  const [tls, smtp, imap, pop3, other] = silent as [Listening, ...Listening[]]
  servers = { tls, greeting: { smtp, imap, pop3, ldap: other, postgres: other } as never }
})
afterAll(async () => {
  await Promise.all(
    [servers.tls, ...new Set(Object.values(servers.greeting))].map((s) => s.close()),
  )
})

function record(socket: Parameters<Parameters<typeof listen>[0]>[0]): void {
  socket.once('data', (bytes: Buffer) => {
    lengths.push(bytes.readUInt16BE(3))
    socket.destroy()
  })
}

/** Greets, agrees to start TLS, and records the ClientHello. */
function talk(greeting: string): Promise<Listening> {
  return listen((socket) => {
    socket.write(greeting)
    socket.on('data', (bytes) => {
      if (bytes[0] === 0x16) {
        lengths.push(bytes.readUInt16BE(3))
        socket.destroy()
      } else socket.write(answerTo(bytes.toString('latin1')))
    })
  })
}

function answerTo(text: string): string | Buffer {
  if (text.startsWith('EHLO')) return '250-mail.example.test\r\n250 STARTTLS\r\n'
  if (text.startsWith('STARTTLS')) return '220 go ahead\r\n'
  if (text.startsWith('STLS')) return '+OK\r\n'
  if (text.includes('1466')) return Buffer.from('300c02010178070a010004000400', 'hex')
  if (text.startsWith('\0')) return 'S'
  const [tag] = text.split(' ')
  return `${tag} OK\r\n`
}

const signal = AbortSignal.timeout(30_000)
const address = '127.0.0.1'
const target = { host: address, servername: undefined, addresses: [address] }
const deps = { resolver: mapResolver(), allowPrivate: true as const }
const sent = {
  method: 'POST',
  path: '/',
  headers: [] as [string, string][],
  body: Buffer.from('x'),
}
const https = () => new URL(`https://${address}:${servers.tls.port}/`)

const CONNECTIONS: [string, () => Promise<unknown>][] = [
  ['a certificate check', () => probeTls({ target, port: servers.tls.port, signal })],
  ...STARTTLS.map((starttls): [string, () => Promise<unknown>] => [
    `a certificate check after STARTTLS with ${starttls}`,
    () => probeTls({ target, port: servers.greeting[starttls]?.port ?? 0, starttls, signal }),
  ]),
  ['a policy file', () => getSmall(https(), deps, signal)],
  ['a request to a provider', () => createGuardedFetch(deps, 30_000)(https().href, {})],
  ['an alert', () => post(https(), { headers: {}, body: 'x' }, deps, signal)],
  ['a forwarded webhook', () => forward(https(), sent, signal)],
  ['a request to a Portreeve service', () => askService(https(), null, signal, null)],
  [
    'IMAP over TLS',
    () =>
      signIn({ target, port: servers.tls.port, secure: true, user: 'a', password: 'b' }, signal),
  ],
  [
    'IMAP with STARTTLS',
    () =>
      signIn(
        {
          target,
          port: servers.greeting['imap']?.port ?? 0,
          secure: false,
          user: 'a',
          password: 'b',
        },
        signal,
      ),
  ],
  ...(['smtps', 'smtp'] as const).map((scheme): [string, () => Promise<unknown>] => [
    `a mail over ${scheme}`,
    () => {
      const server = scheme === 'smtps' ? servers.tls : servers.greeting['smtp']
      const relay = { smtpUrl: `${scheme}://${address}:${server?.port}`, from: 'a@a.test' }
      return sendMail(relay, { to: 'b@b.test', subject: 's', text: 't' }, signal)
    },
  ]),
  [
    'PostgreSQL',
    async () => {
      const port = servers.greeting['postgres']?.port
      const { pool, close } = openDatabase(
        `postgres://a:b@${address}:${port}/c?sslmode=verify-full`,
      )
      await pool.query('select 1').finally(() => void close())
    },
  ],
  [
    'an S3 store',
    () => {
      const keys = { accessKeyId: 'a', secretAccessKey: 'b', region: 'r' }
      const store = openS3Store({
        ...keys,
        bucket: 'b',
        prefix: '',
        endpoint: https().href,
      })
      return store.read('x')
    },
  ],
]

describe('the first ClientHello', () => {
  it.each(CONNECTIONS)('of %s fits into one packet', async (_what, open) => {
    lengths.length = 0
    await expect(open()).rejects.toThrow()
    expect(lengths[0]).toBeGreaterThan(100)
    expect(lengths[0]).toBeLessThan(SHORT_BYTES)
  })

  it('is that of each process: the service and the command line', () => {
    for (const entry of ['src/app.ts', 'src/cli/main.ts'])
      expect(readFileSync(entry, 'utf8')).toMatch(/^import '.*\/tls\/defaults\.ts'$/m)
  })
})

/** As a mail server and a database, for any client. */
const STARTED = {
  smtp: {
    greeting: '220 mail ESMTP\r\n',
    replies: [
      { to: /^EHLO /, say: '250-mail.example.test\r\n250 STARTTLS\r\n' },
      { to: /^STARTTLS/, say: '220 go ahead\r\n', upgrade: true as const },
    ],
  },
  postgres: SCRIPTS.postgres,
}

type Ports = Record<'tls' | keyof typeof STARTED, number>

/** Connections to a host whose certificate is verified, by libraries that check names themselves. */
const VERIFIED: [string, (host: string, ports: Ports) => Promise<unknown>][] = [
  ['a request of ours', (host, { tls }) => createGuardedFetch(deps, 30_000)(urlOf(host, tls), {})],
  ['a policy file', (host, { tls }) => getSmall(new URL(urlOf(host, tls)), deps, signal)],
  ['a forwarded webhook', (host, { tls }) => forward(new URL(urlOf(host, tls)), sent, signal)],
  ['fetch', (host, { tls }) => fetch(urlOf(host, tls), { signal })],
  [
    'IMAP',
    (host, { tls: port }) => {
      const named = { host, servername: host, addresses: [address] }
      return signIn({ target: named, port, secure: true, user: 'a', password: 'b' }, signal)
    },
  ],
  ['a mail over TLS', (host, { tls }) => mailTo(`smtps://${host}:${tls}`)],
  ['a mail with STARTTLS', (host, { smtp }) => mailTo(`smtp://${host}:${smtp}?requireTLS=true`)],
  [
    'PostgreSQL',
    async (host, { postgres }) => {
      const url = `postgres://a:b@${host}:${postgres}/c?sslmode=verify-full`
      const { pool, close } = openDatabase(url)
      await pool.query('select 1').finally(() => void close())
    },
  ],
]
const urlOf = (host: string, port: number) => `https://${host}:${port}/`
const mailTo = (smtpUrl: string) =>
  sendMail({ smtpUrl, from: 'a@a.test' }, { to: 'b@b.test', subject: 's', text: 't' }, signal)

describe('the name in a certificate (RFC 9525, 6)', () => {
  const before = getCACertificates('default')
  const { root } = makeAuthority()
  const opened: TcpServer[] = []
  let ports: Ports
  beforeAll(async () => {
    setDefaultCACertificates([...before, root.cert])
    const pem = makeCertificate({ subject: '/CN=localhost', issuer: root })
    const tls = await startTlsServer(pem)
    const smtp = await startTlsServer({ ...pem, script: STARTED.smtp })
    const postgres = await startTlsServer({ ...pem, script: STARTED.postgres })
    opened.push(tls, smtp, postgres)
    ports = { tls: tls.port, smtp: smtp.port, postgres: postgres.port }
  })
  afterAll(async () => {
    setDefaultCACertificates(before)
    await Promise.all(opened.map((server) => server.close()))
  })

  it.each(VERIFIED)('counts for %s, and the common name does not', async (_what, open) => {
    const error: unknown = await open('localhost', ports).catch((thrown: unknown) => thrown)
    expect(inspect(error, { depth: 9 })).toContain('certificate is not for localhost')
  })

  const { raw } = new X509Certificate(
    makeCertificate({
      subject: '/CN=cn.name.test',
      altNames: ['DNS:*.whole.test', 'DNS:w*.part.test', 'DNS:own.test', 'IP:192.0.2.1'],
    }).cert,
  )
  it.each([
    ['own.test', true],
    ['own.test.', true],
    ['OWN.test', true],
    ['one.whole.test', true],
    ['192.0.2.1', true],
    ['whole.test', false],
    ['two.one.whole.test', false],
    ['www.part.test', false],
    ['cn.name.test', false],
    ['192.0.2.2', false],
  ])('is for %s: %s', (host, isFor) => {
    const found = nodeTls.checkServerIdentity(host, { raw } as PeerCertificate)
    expect(found === undefined).toBe(isFor)
  })
})

describe('a server with hybrid groups only', () => {
  let server: TcpServer
  beforeAll(async () => {
    const pem = makeCertificate({ subject: '/CN=a.test', altNames: [`IP:${address}`] })
    server = await startTlsServer({ ...pem, ecdhCurve: 'X25519MLKEM768', minVersion: 'TLSv1.3' })
  })
  afterAll(() => server.close())

  it('is reached by a certificate check, which tries the long ClientHello last', async () => {
    const facts = await probeTls({ target, port: server.port, signal })
    expect(facts).toMatchObject({ hostnameMatches: true, isOutdated: false })
  })

  it('refuses the short one', async () => {
    const socket = connect({ host: address, port: server.port, rejectUnauthorized: false })
    const { promise, resolve } = Promise.withResolvers()
    socket.on('error', resolve).on('secureConnect', () => resolve(null))
    expect(await promise).toMatchObject({ code: expect.stringContaining('SSL') })
  })
})
