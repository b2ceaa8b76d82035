import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCertificate } from '../servers/certificates.ts'
import { librariesOf, unpacked } from '../servers/debian-package.ts'

export type ProxyName = 'nginx' | 'Caddy' | 'HAProxy'

type Place = {
  port: number
  /** The service behind the proxy. */
  target: string
  /** Whether only requests for `/portreeve` are passed on. */
  isBelowPath: boolean
}

/** Starts a proxy with its recipe of docs/reverse-proxy.md, with TLS. @returns stops it */
export async function startProxy(name: ProxyName, place: Place): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-proxy-'))
  const { key, cert } = makeCertificate({ subject: '/CN=localhost', altNames: ['DNS:localhost'] })
  writeFileSync(join(folder, 'cert.pem'), cert)
  writeFileSync(join(folder, 'key.pem'), key)
  writeFileSync(join(folder, 'both.pem'), cert + key)
  const { command, config, env = {} } = PROXIES[name](folder, place)
  writeFileSync(join(folder, 'config'), config)
  const child = spawn(command[0] ?? '', command.slice(1), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  const url = `https://localhost:${place.port}${place.isBelowPath ? '/portreeve' : ''}/readyz`
  const deadline = performance.now() + START_MS
  while ((await requestOverHttp2(url).catch(() => null))?.status !== 200) {
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`${name} does not answer: ${said}`)
    await sleep(50)
  }
  return async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
    rmSync(folder, { recursive: true })
  }
}

/** Milliseconds until a proxy must answer. */
const START_MS = 30_000

type Started = { command: string[]; config: string; env?: Record<string, string> }

const PROXIES: Record<ProxyName, (folder: string, place: Place) => Started> = {
  nginx(folder, { port, target, isBelowPath }) {
    const recipe = readFileSync('deploy/nginx.conf.example', 'utf8')
      .replaceAll(/^ {4}server 10\..*\n/gm, '')
      .replace('upstream portreeve {\n', `upstream portreeve {\nserver ${hostOf(target)};\n`)
      .replaceAll('listen 443', `listen 127.0.0.1:${port}`)
      .replaceAll(/\/etc\/letsencrypt\S+\/fullchain.pem/g, `${folder}/cert.pem`)
      .replaceAll(/\/etc\/letsencrypt\S+\/privkey.pem/g, `${folder}/key.pem`)
      .replace('location / {', isBelowPath ? documented('nginx path') : '$&')
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((kind) => `${kind}_temp_path ${folder}/${kind};\n`)
      .join('')
    return {
      command: ['/usr/sbin/nginx', '-e', `${folder}/error.log`, '-c', `${folder}/config`],
      config: `daemon off;\npid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${paths}${recipe}}\n`,
    }
  },
  Caddy(folder, { port, target, isBelowPath }) {
    const recipe = documented(isBelowPath ? 'caddy path' : 'caddy root')
      .replace(
        /^\S+ \{\n/,
        `https://localhost:${port} {\n\ttls ${folder}/cert.pem ${folder}/key.pem\n`,
      )
      .replace('127.0.0.1:8080', hostOf(target))
    const caddy = join(unpacked('caddy'), 'usr/bin/caddy')
    return {
      command: [caddy, 'run', '--adapter', 'caddyfile', '--config', `${folder}/config`],
      config: `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${recipe}`,
      env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    }
  },
  HAProxy(folder, { port, target, isBelowPath }) {
    const haproxy = unpacked('haproxy')
    const recipe = documented('haproxy root')
      .replace('bind :443', `bind 127.0.0.1:${port}`)
      .replace('/etc/haproxy/portreeve.pem', `${folder}/both.pem`)
      .replace('127.0.0.1:8080', hostOf(target))
      .replace(/ {4}default_backend .*\n/, isBelowPath ? documented('haproxy path') : '$&')
    return {
      command: [join(haproxy, 'usr/sbin/haproxy'), '-db', '-f', `${folder}/config`],
      config: recipe,
      env: { LD_LIBRARY_PATH: librariesOf(haproxy) },
    }
  },
}

const hostOf = (url: string) => new URL(url).host

/** The code block of docs/reverse-proxy.md with this mark. */
function documented(mark: string): string {
  const page = readFileSync('docs/reverse-proxy.md', 'utf8')
  const [, code] = page.split(`\`\`\`${mark}\n`)
  if (code === undefined) throw new Error(`docs/reverse-proxy.md has no block “${mark}”`)
  return code.slice(0, code.indexOf('```'))
}

export type Answer = { status: number; headers: Record<string, string | string[]>; body: Buffer }

type Sent = { method?: string; headers?: Record<string, string>; body?: string | Buffer }

/** Sends a request over HTTP/2, with its path as it is given. */
export async function requestOverHttp2(url: string, sent: Sent = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body = '' } = sent
  const [, origin = '', path = ''] = /^(https:\/\/[^/]+)(.*)$/.exec(url) ?? []
  const session = connect(origin, { rejectUnauthorized: false })
  try {
    await once(session, 'connect')
    const head = { ':method': method, ':path': path, ...headers }
    const stream = session.request(head, { endStream: body.length === 0 })
    if (body.length > 0) stream.end(body)
    const [got] = (await once(stream, 'response')) as [Record<string, string>]
    return { status: Number(got[':status']), headers: got, body: await buffer(stream) }
  } finally {
    session.destroy()
  }
}
