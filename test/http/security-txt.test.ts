import { afterEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { sharedService, startTestService, type TestService } from '../service.ts'

describe('/.well-known/security.txt', () => {
  let portreeve: TestService
  afterEach(() => portreeve.stop())

  it('names the contacts of the installation, and expires within a year (RFC 9116)', async () => {
    portreeve = await startTestService({
      SECURITY_CONTACT: 'security@example.com, https://example.com/report',
      BASE_URL: 'https://portreeve.example.com',
    })
    const answer = await portreeve.request('/.well-known/security.txt')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const lines = (await answer.text()).trimEnd().split('\n')
    expect(lines.slice(0, 2)).toEqual([
      'Contact: mailto:security@example.com',
      'Contact: https://example.com/report',
    ])
    expect(lines).toContain('Canonical: https://portreeve.example.com/.well-known/security.txt')
    const [, expires = ''] = /^Expires: (\S+)$/m.exec(lines.join('\n')) ?? []
    const days = (Date.parse(expires) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(30)
    expect(days).toBeLessThan(365)
  })
  it('does not exist without a contact', async () => {
    portreeve = await sharedService()
    expect((await portreeve.request('/.well-known/security.txt')).status).toBe(404)
  })
})

describe('SECURITY_CONTACT', () => {
  it.each(['http://example.com', 'nobody', 'a b@example.com', 'javascript:alert(1)'])(
    'rejects %s',
    (contact) => {
      expect(() => readConfig({ SECURITY_CONTACT: contact })).toThrow('SECURITY_CONTACT')
    },
  )
})
