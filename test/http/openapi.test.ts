import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openapiFile } from '../../scripts/openapi.ts'
import { startHouse, type House } from '../house.ts'

type Operation = { security?: object[]; summary?: string; tags?: string[]; responses?: Record<string, unknown> }
type Document = {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { responses: object }
}

let house: House
let document: Document
beforeAll(async () => {
  house = await startHouse()
  document = (await (await house.request('/openapi.json')).json()) as Document
})
afterAll(() => house.stop())

describe('openapi.json', () => {
  it('stands in the repository as the service answers it (npm run openapi)', async () => {
    expect(readFileSync('openapi.json', 'utf8')).toBe(await openapiFile(document))
  })

  it('says of every route what it is for', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
    )
    expect(operations.length).toBeGreaterThan(10)
    const mute = operations.filter(({ operation }) => !operation.summary || !operation.tags?.length)
    expect(mute.map(({ name }) => name)).toEqual([])
  })

  it('describes a failure once, and says of every route that it may answer so', () => {
    expect(JSON.stringify(document).split('A sentence a person understands.').length).toBe(2)
    const ref = { $ref: '#/components/responses/Failure' }
    expect(document.paths['/api/v1/tokens']?.['get']?.responses).toMatchObject({ '4XX': ref, '5XX': ref })
    expect(document.components.responses).toHaveProperty('Failure.content')
  })

  it('shows an example of every check', () => {
    for (const path of ['/api/v1/dns-check', '/api/v1/ssl-check', '/api/v1/blacklist-check', '/api/v1/dmarc-check']) {
      expect(JSON.stringify(document.paths[path]?.['get']?.responses?.['200'])).toContain('"example":{"success":true')
    }
  })
})

describe('a stranger', () => {
  it('is told so on every route that is for accounts, whatever else is wrong with the request', async () => {
    const secured = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { security }]) => (security?.length ? [{ path, method }] : [])),
    )
    expect(secured.length).toBeGreaterThan(80)
    const answers = secured.map(async ({ path, method }) => {
      const text = { method: method.toUpperCase(), headers: { 'content-type': 'text/csv' }, body: 'x' }
      const { status } = await house.request(path.replaceAll(/\{\w+\}/g, 'x'), method === 'get' ? {} : text)
      return `${method} ${path} ${status}`
    })
    expect(await Promise.all(answers)).toEqual(secured.map(({ path, method }) => `${method} ${path} 401`))
  })
})

describe('a request', () => {
  it('has a body of JSON, where the route does not say otherwise', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const request = { method: 'POST', headers: { 'content-type': type }, body: '{"ip":"192.0.2.1"}' }
      expect((await house.request('/api/v1/abuse/appeals', request)).status).toBe(415)
    }
  })

  it('for something with an id that nothing can have is answered as for one that nothing has', async () => {
    for (const id of ['nope', '00000000-0000-0000-0000-000000000000'])
      expect((await house.request(`/api/v1/shared-checks/${id}`)).status).toBe(404)
  })
})
