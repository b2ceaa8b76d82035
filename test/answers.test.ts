import { beforeAll, describe, expect, it } from 'vitest'
import { createChecker } from './answers.ts'

let check: Awaited<ReturnType<typeof createChecker>>
beforeAll(async () => {
  check = await createChecker()
})

function answer(path: string, body: unknown, status = 200): Response {
  const response = Response.json(body, { status })
  return Object.defineProperty(response, 'url', { value: `http://portreeve.test${path}` })
}

const fine = { success: true, data: [] }
const failure = { success: false, error: 'No.', code: 'not_found' }

describe('the check of answers against openapi.json', () => {
  it('accepts documented responses, also of failures and unknown paths', async () => {
    await check('get', answer('/api/v1/tokens', fine))
    await check('get', answer('/api/v1/tokens?a=b', failure, 404))
    await check('get', answer('/api/v1/nothing', failure, 404))
  })

  it('finds a field that is missing, of another type, or not described', async () => {
    const token = {
      id: 'x',
      label: 'a',
      lastFour: 'abcd',
      scopes: null,
      createdAt: '2026-11-21T12:00:00.000Z',
      expiresAt: null,
      lastUsedAt: null,
      createdBy: { accountId: crypto.randomUUID(), name: 'Alice', email: 'alice@example.com' },
    }
    const wrong = [
      {},
      { success: true, data: {} },
      { ...fine, more: 1 },
      { success: true, data: [token] },
    ]
    for (const body of wrong)
      await expect(check('get', answer('/api/v1/tokens', body))).rejects.toThrow(
        'GET /api/v1/tokens 200',
      )
    await check(
      'get',
      answer('/api/v1/tokens', { success: true, data: [{ ...token, id: crypto.randomUUID() }] }),
    )
  })

  it('finds a status or a route that is not described', async () => {
    await expect(check('get', answer('/api/v1/tokens', fine, 202))).rejects.toThrow(
      'does not describe',
    )
    await expect(check('get', answer('/api/v1/nothing', fine))).rejects.toThrow('does not describe')
    await expect(check('put', answer('/api/v1/tokens', fine))).rejects.toThrow('does not describe')
  })

  it('prefers a literal path to one with a parameter', async () => {
    await expect(check('get', answer('/api/v1/delisting/status', fine))).rejects.toThrow(
      'GET /api/v1/delisting/status',
    )
  })
})
