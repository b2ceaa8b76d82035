import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formattedJson } from '../../scripts/formatted.ts'
import { sharedService, type TestService } from '../service.ts'

type Operation = {
  operationId?: string
  security?: object[]
  summary?: string
  tags?: string[]
  parameters?: { required?: boolean }[]
  requestBody?: { content: object }
  responses?: Record<string, { content?: object }>
}
type Document = {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { responses: object; schemas: Record<string, object> }
}

let portreeve: TestService
let document: Document
beforeAll(async () => {
  portreeve = await sharedService()
  document = (await (await portreeve.request('/openapi.json')).json()) as Document
})
afterAll(() => portreeve.stop())

describe('openapi.json', () => {
  it('is in the repository as the service returns it (npm run openapi)', async () => {
    expect(readFileSync('openapi.json', 'utf8')).toBe(await formattedJson(document))
  })

  it('has a summary for every route', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        name: `${method} ${path}`,
        operation,
      })),
    )
    expect(operations.length).toBeGreaterThan(10)
    const mute = operations.filter(({ operation }) => !operation.summary || !operation.tags?.length)
    expect(mute.map(({ name }) => name)).toEqual([])
  })

  it('gives every operation a unique id, a security and a success', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    const names = operations.map(({ operationId }) => operationId)
    expect(new Set(names).size).toBe(operations.length)
    expect(names.filter((name) => !/^[a-z]+[A-Z]\w*$/.test(name ?? ''))).toEqual([])
    expect(operations.filter(({ security }) => !security)).toEqual([])
    expect(
      operations.filter(
        ({ responses }) => !Object.keys(responses ?? {}).some((one) => one.startsWith('2')),
      ),
    ).toEqual([])
  })

  it('has the operations outside the router, and the public ones', () => {
    expect(Object.keys(document.paths['/webhooks/{token}'] ?? {}).toSorted()).toEqual([
      'delete',
      'get',
      'head',
      'options',
      'patch',
      'post',
      'put',
    ])
    for (const path of [
      '/healthz',
      '/readyz',
      '/openapi.json',
      '/api/auth/get-session',
      '/webhooks/{token}',
    ])
      expect(document.paths[path]?.['get'], path).toMatchObject({ security: [] })
  })

  it('has no paths that differ only in the name of a parameter', () => {
    const paths = Object.keys(document.paths).map((path) => path.replace(/\{\w+\}/g, '{}'))
    expect(new Set(paths).size).toBe(paths.length)
  })

  it('requires no field with a default', () => {
    type Body = { required?: string[]; anyOf?: Body[] }
    const { schemas } = document.components
    expect((schemas['NewMigration'] as Body).required).toEqual(['source', 'destination', 'folders'])
    const connections = (schemas['Connection'] as Body).anyOf?.map(({ required }) => required)
    expect(connections).toEqual([
      ['host', 'user', 'password'],
      ['host', 'user', 'accessToken'],
      ['host', 'user', 'credentialId'],
    ])
    expect((schemas['NewAttackReport'] as Body).required).toEqual(['ip', 'service'])
    const { parameters = [] } = document.paths['/api/v1/delisting/status']?.['get'] ?? {}
    expect(parameters.filter(({ required }) => required)).toEqual([])
  })

  it('writes tuples as JSON Schema 2020-12 does', () => {
    const { headers } = (
      document.components.schemas['WebhookRequest'] as {
        properties: { headers: { items: object } }
      }
    ).properties
    const text = { type: 'string' }
    expect(headers.items).toMatchObject({ prefixItems: [text, text], minItems: 2, maxItems: 2 })
  })

  it('describes uploads and file responses', () => {
    const upload = document.paths['/api/v1/dmarc/reports']?.['post']?.requestBody?.content ?? {}
    expect(Object.keys(upload)).toEqual(['application/octet-stream', 'multipart/form-data'])
    const types = (path: string) =>
      Object.keys(document.paths[path]?.['get']?.responses?.['200']?.content ?? {})
    expect(types('/api/v1/account/export')).toEqual(['application/x-ndjson'])
    expect(types('/api/v1/abuse/export')).toEqual(['text/plain', 'text/csv', 'application/json'])
    expect(types('/api/v1/imap/migrate/{id}/events')).toEqual(['text/event-stream'])
  })

  it('describes the failure once, and references it in every route', () => {
    expect(JSON.stringify(document).split('A message for people.').length).toBe(2)
    const ref = { $ref: '#/components/responses/Failure' }
    const temporary = { $ref: '#/components/responses/TemporaryFailure' }
    expect(document.paths['/api/v1/tokens']?.['post']?.responses).toMatchObject({
      400: ref,
      401: ref,
      403: ref,
      409: ref,
      429: temporary,
      503: temporary,
      default: ref,
    })
    expect(document.components.responses).toHaveProperty('Failure.content')
    expect(document.components.responses).toHaveProperty([
      'TemporaryFailure',
      'headers',
      'Retry-After',
    ])
  })

  it('names no ranges of statuses, which some client generators cannot read', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    const statuses = new Set(operations.flatMap(({ responses }) => Object.keys(responses ?? {})))
    expect([...statuses].filter((status) => !/^(?:[1-5]\d\d|default)$/.test(status))).toEqual([])
  })

  it('shows an example of every check', () => {
    for (const path of [
      '/api/v1/dns-check',
      '/api/v1/ssl-check',
      '/api/v1/blacklist-check',
      '/api/v1/dmarc-check',
    ]) {
      expect(JSON.stringify(document.paths[path]?.['get']?.responses?.['200'])).toContain(
        '"example":{"success":true',
      )
    }
  })
})

describe('an unauthenticated request', () => {
  it('reaches only the routes that are public on purpose', () => {
    const open = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { security }]) =>
        security?.length || path.startsWith('/webhooks/') ? [] : [`${method} ${path}`],
      ),
    )
    expect(open).toEqual([
      'get /api/auth/get-session',
      'post /api/auth/passkey/options',
      'post /api/auth/passkey/sign-in',
      'post /api/auth/sign-in/email',
      'post /api/auth/sign-out',
      'post /api/auth/sign-up/email',
      'post /api/auth/two-factor/verify-backup-code',
      'post /api/auth/two-factor/verify-totp',
      'post /api/v1/abuse/appeals',
      'get /api/v1/abuse/badges/{file}',
      'get /api/v1/abuse/check',
      'get /api/v1/abuse/export',
      'get /api/v1/abuse/fail2ban-config',
      'get /api/v1/abuse/fail2ban-install',
      'get /api/v1/abuse/federation',
      'get /api/v1/abuse/federation/evidence',
      'post /api/v1/abuse/federation/follow',
      'get /api/v1/abuse/fleet/events',
      'get /api/v1/abuse/fleet/export',
      'get /api/v1/abuse/fleet/list',
      'get /api/v1/abuse/fleet/metrics',
      'get /api/v1/abuse/fleet/misp/hashes.csv',
      'get /api/v1/abuse/fleet/misp/manifest.json',
      'get /api/v1/abuse/fleet/misp/{uuid}.json',
      'get /api/v1/abuse/misp/hashes.csv',
      'get /api/v1/abuse/misp/manifest.json',
      'get /api/v1/abuse/misp/{uuid}.json',
      'get /api/v1/abuse/networks',
      'post /api/v1/abuse/report',
      'get /api/v1/abuse/report',
      'post /api/v1/abuse/report/bulk',
      'post /api/v1/abuse/report/crowdsec',
      'get /api/v1/abuse/stats',
      'get /api/v1/abuse/tokens/{token}',
      'get /api/v1/imap/proof-key',
      'post /api/v1/invitations/preview',
      'post /api/v1/invitations/sign-up',
      'post /api/v1/password-reset',
      'post /api/v1/password-reset/confirm',
      'get /api/v1/service',
      'post /api/v1/setup',
      'get /api/v1/shared-checks/{token}',
      'get /api/v1/shared-mail-tests/{token}',
      'get /api/v1/shared-webhook-requests/{token}',
      'post /api/v1/sign-up/confirm',
      'get /api/v2/blacklist',
      'post /api/v2/bulk-report',
      'get /api/v2/check',
      'get /api/v2/check-block',
      'delete /api/v2/clear-address',
      'post /api/v2/report',
      'get /api/v2/reports',
      'get /healthz',
      'get /openapi.json',
      'get /readyz',
      'post /v1/alerts',
      'get /v1/allowlists',
      'post /v1/allowlists/check',
      'get /v1/allowlists/check/{target}',
      'get /v1/allowlists/{name}',
      'get /v1/decisions',
      'get /v1/decisions/stream',
      'get /v1/heartbeat',
      'post /v1/usage-metrics',
      'post /v1/watchers',
      'post /v1/watchers/login',
    ])
  })

  it('gets 401 before validation on every route that needs an account', async () => {
    const secured = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { security }]) =>
        // The library behind these reads the body first.
        security?.length && !path.startsWith('/api/auth/') ? [{ path, method }] : [],
      ),
    )
    expect(secured.length).toBeGreaterThan(80)
    const answers = secured.map(async ({ path, method }) => {
      const text = {
        method: method.toUpperCase(),
        headers: { 'content-type': 'text/csv' },
        body: 'x',
      }
      const { status } = await portreeve.request(
        path.replaceAll(/\{\w+\}/g, 'x'),
        method === 'get' ? {} : text,
      )
      return `${method} ${path} ${status}`
    })
    expect(await Promise.all(answers)).toEqual(
      secured.map(({ path, method }) => `${method} ${path} 401`),
    )
  })
})

describe('a request', () => {
  it('needs a JSON body where the route has no other', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const request = {
        method: 'POST',
        headers: { 'content-type': type },
        body: '{"ip":"192.0.2.1"}',
      }
      expect((await portreeve.request('/api/v1/abuse/appeals', request)).status).toBe(415)
    }
  })

  it('gets 404 for an impossible id as for an unknown one', async () => {
    for (const id of ['nope', '00000000-0000-0000-0000-000000000000'])
      expect((await portreeve.request(`/api/v1/shared-checks/${id}`)).status).toBe(404)
  })
})
