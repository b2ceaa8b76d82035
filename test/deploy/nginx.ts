import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../free-port.ts'

export type Nginx = { url: string; stop(): Promise<void> }

type Options = {
  /** A free one unless it is named. */
  port?: number
  /** The path below which it passes requests on, as they are; empty for all. */
  path?: string
  /** Its clients are proxies themselves: their forwarding headers are passed on. */
  isBehindAnother?: boolean
}

/** Debian's nginx with the configuration that we document, before these instances; without TLS. */
export async function startNginx(instances: string[], options: Options = {}): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-nginx-'))
  const { port = await freePort(), path = '', isBehindAnother = false } = options
  const servers = instances
    .map((url) => `    server ${new URL(url).host} max_fails=1 fail_timeout=2s;\n`)
    .join('')
  const documented = readFileSync('deploy/nginx.conf.example', 'utf8')
    .replaceAll(/^ {4}server 10\..*\n/gm, '')
    .replace('upstream portreeve {\n', `upstream portreeve {\n${servers}`)
    .replaceAll('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_.*\n/gm, '')
    .replace('location / {', `location ${path}/ {`)
    .replaceAll(
      'Forwarded-For $remote_addr;',
      isBehindAnother ? 'Forwarded-For $proxy_add_x_forwarded_for;' : '$&',
    )
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off;\nworker_processes 1;\npid ${folder}/pid;\nerror_log ${folder}/error.log;\n` +
      `events { worker_connections 2048; }\nhttp {\naccess_log off;\nclient_body_temp_path ${folder}/body;\n` +
      `proxy_temp_path ${folder}/proxy;\nfastcgi_temp_path ${folder}/f;\nuwsgi_temp_path ${folder}/u;\n` +
      `scgi_temp_path ${folder}/s;\n${documented}}\n`,
  )
  const child = spawn(
    '/usr/sbin/nginx',
    ['-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`],
    { stdio: 'pipe' },
  )
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const url = `http://127.0.0.1:${port}${path}`
  while (!(await fetch(`${url}/healthz`).catch(() => null))) {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${said}`)
    await sleep(50)
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
      rmSync(folder, { recursive: true })
    },
  }
}
