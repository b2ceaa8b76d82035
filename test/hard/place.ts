import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROGRAM, runPortreeve } from '../cli/command.ts'
import { startInstance, type Instance } from '../deploy/instance.ts'
import { freePort } from '../free-port.ts'

export type Place = {
  url: string
  dataDir: string
  env: Record<string, string>
  instance: Instance
  /** The API token of an administrator with the largest plan. */
  token: string
  /** Restarts the service on the same port. */
  again(): Promise<void>
  api(path: string, method?: string, body?: unknown): Promise<Response>
  stop(): Promise<void>
}

/**
 * Starts the service as most people run it: one process with its own PostgreSQL, durable, in a
 * separate folder.
 * @param program the program of another version
 */
export async function startPlace(
  settings: Record<string, string> = {},
  program = PROGRAM,
): Promise<Place> {
  const folder = settings['DATA_DIR'] ?? mkdtempSync(join(tmpdir(), 'portreeve-hard-'))
  chmodSync(folder, 0o755)
  const env: Record<string, string> = {
    DATA_DIR: folder,
    PORT: String(await freePort()),
    DNS_SERVERS: '127.0.0.1:1',
    TRUSTED_PROXIES: '127.0.0.0/8',
    // The load comes from a single account and address; the limits for one account have their own
    // tests.
    REQUEST_LIMITS: 'off',
    ALLOW_PRIVATE_TARGETS: '127.0.0.0/8,::1',
    ...settings,
  }
  let instance = await startInstance(env, program)
  const email = 'alice@people.test'
  const make = [
    'user',
    'create',
    '--email',
    email,
    '--password-stdin',
    '--admin',
    '--plan',
    'enterprise',
  ]
  await runPortreeve(make, env, 'the password of Alice\n', program)
  const create = ['token', 'create', '--email', email]
  const token = (await runPortreeve(create, env, '', program)).out.trim()
  return {
    url: instance.url,
    dataDir: folder,
    env,
    token,
    get instance() {
      return instance
    },
    async again() {
      instance = await startInstance(env, program)
    },
    api(path, method = 'GET', body) {
      const json: Record<string, string> =
        body === undefined ? {} : { 'content-type': 'application/json' }
      const headers = { authorization: `Bearer ${token}`, ...json }
      const content = body === undefined ? {} : { body: JSON.stringify(body) }
      return fetch(instance.url + path, { method, headers, ...content })
    },
    async stop() {
      await instance.kill('SIGTERM')
      if (!settings['DATA_DIR']) rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function makeEndpoints(place: Place, count: number): Promise<string[]> {
  const made = Array.from({ length: count }, async () => {
    const answer = await place.api('/api/webhook/endpoints', 'POST', {})
    return ((await answer.json()) as { endpoint: { token: string } }).endpoint.token
  })
  return Promise.all(made)
}
