import * as fc from 'fast-check'
import { Check as matches } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mailAuthCheck } from '../../src/diagnostics/mail-auth/mail-auth.ts'
import { MailAuthResult } from '../../src/diagnostics/shapes.ts'
import { Fault } from '../../src/errors.ts'
import { createResolver } from '../../src/net/dns.ts'
import { startTestService, type TestService } from '../service.ts'
import { hostile } from '../protocols/reports/hostile.ts'
import type { Records } from '../servers/dns-records.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { checkWith, GOOD, rsaKey } from './mail-domain.ts'

describe('the mail check', () => {
  it('reports all facts of a domain in good order', async () => {
    const result = await checkWith()
    expect(matches(MailAuthResult, result)).toBe(true)
    expect(result).toMatchObject({
      domain: 'example.com',
      status: 'NOERROR',
      dmarc: {
        found: true,
        record: 'v=DMARC1; p=reject; rua=mailto:dmarc@example.com',
        tags: { v: 'DMARC1', p: 'reject', rua: 'mailto:dmarc@example.com' },
        inheritedFrom: null,
        effectivePolicy: 'reject',
        organizationalDomain: 'example.com',
        destinations: [{ uri: 'mailto:dmarc@example.com', authorized: true }],
      },
      spf: {
        found: true,
        record: 'v=spf1 mx include:_spf.example.net -all',
        lookups: 2,
        voidLookups: 0,
        all: '-all',
        errors: [],
        includes: [{ domain: '_spf.example.net', via: 'include:_spf.example.net', depth: 1 }],
      },
      mtaSts: {
        found: true,
        id: '1',
        policy: { mode: 'enforce', mx: ['mail.example.com'], maxAge: 1_209_600 },
      },
      tlsRpt: { found: true, rua: ['mailto:tls@example.com'] },
      bimi: { found: false, record: null },
      truncated: [],
      warnings: [],
    })
    expect(result.dmarc.tagsExplained.map(({ tag }) => tag)).toEqual(['v', 'p', 'rua'])
  })

  it('shows for each address whether SPF allows it, by which mechanism', async () => {
    const ip = ['192.0.2.10', '2001:DB8::1', '::ffff:192.0.2.10']
    const { spf } = await checkWith({}, { ip })
    const pass = {
      result: 'pass',
      domain: 'example.com',
      term: 'include:_spf.example.net',
      reason: null,
    }
    expect(spf.senders).toMatchObject([
      { ip: '192.0.2.10', ...pass },
      { ip: '2001:db8::1', result: 'fail', domain: 'example.com', term: '-all', explanation: null },
      pass,
    ])
    expect((await checkWith()).spf).not.toHaveProperty('senders')
  })

  it('does not claim that an address may not send when the SPF query failed', async () => {
    const { spf } = await checkWith(
      {},
      { ip: ['192.0.2.10'], failures: { '_spf.example.net TXT': 'SERVFAIL' } },
    )
    expect(spf.senders).toMatchObject([
      { result: 'temperror', term: null, reason: expect.stringMatching(/SERVFAIL/) },
    ])
  })

  it.each(['192.0.2', 'mail.example.com', '192.0.2.0/24', ''])(
    'does not accept %j as an address',
    async (ip) => {
      await expect(checkWith({}, { ip: [ip] })).rejects.toMatchObject({ code: 'invalid_request' })
    },
  )

  it('reports missing records in the specified words', async () => {
    const result = await checkWith(
      Object.fromEntries(
        Object.keys(GOOD)
          .slice(2)
          .map((key) => [key, []]),
      ),
    )
    expect(result.dmarc).toMatchObject({ found: false, record: null, tags: {} })
    expect(result.spf).toMatchObject({ found: false, record: null })
    expect(result.dkim[0]).toEqual({ selector: 'google', found: false, record: null })
    expect(JSON.stringify(result)).not.toContain('"error":')
  })

  it('lists keys that were found, then the ten commonest and the asked-for selectors that were not', async () => {
    const { dkim, dkimSelectorsTried } = await checkWith(
      { 'szn1._domainkey.example.com TXT': [rsaKey(1024)] },
      { selector: ['mine', 'szn1', 'Other._domainkey.example.com'] },
    )
    expect(dkim.filter(({ found }) => found).map(({ selector }) => selector)).toEqual([
      'szn1',
      'mail',
    ])
    expect(dkim[0]).toMatchObject({
      keyType: 'rsa',
      keyBits: 1024,
      revoked: false,
      provider: 'Seznam Email Profi',
    })
    expect(dkim.slice(2).map(({ selector }) => selector)).toEqual([
      'mine',
      'Other',
      'google',
      'selector1',
      'selector2',
      'default',
      'dkim',
      'k1',
      'k2',
      'k3',
      's1',
    ])
    expect(dkimSelectorsTried).toBeGreaterThan(150)
  })

  it('inherits the record of the organisation, for a name that does not exist with np', async () => {
    const records = {
      '_dmarc.example.com TXT': ['v=DMARC1; p=quarantine; np=reject; rua=mailto:a@example.com'],
    }
    const result = await checkWith(records, { domain: 'nowhere.example.com' })
    expect(result).toMatchObject({
      status: 'NXDOMAIN',
      dmarc: { found: true, inheritedFrom: 'example.com', effectivePolicy: 'reject' },
      warnings: [
        {
          about: 'dmarc',
          severity: 'info',
          message: expect.stringMatching(/applies to nowhere.*np tag/),
        },
      ],
    })
  })

  it('never reports a record as missing when the query failed', async () => {
    const result = await checkWith(
      {},
      {
        failures: {
          '_dmarc.example.com TXT': 'SERVFAIL',
          'example.com TXT': 'REFUSED',
          'google._domainkey.example.com TXT': 'TIMEOUT',
          '_mta-sts.example.com TXT': 'SERVFAIL',
          '_smtp._tls.example.com TXT': 'SERVFAIL',
          'default._bimi.example.com TXT': 'SERVFAIL',
        },
      },
    )
    expect(result.dmarc).toMatchObject({ found: false, error: 'SERVFAIL' })
    expect(result.spf).toMatchObject({ found: false, error: 'REFUSED' })
    expect(result.dkim.find(({ selector }) => selector === 'google')).toMatchObject({
      found: false,
      error: 'TIMEOUT',
    })
    for (const item of [result.mtaSts, result.tlsRpt, result.bimi])
      expect(item).toMatchObject({ error: 'SERVFAIL' })
    expect(result.status).toBeNull()
    const messages = result.warnings.map(({ message }) => message).join('\n')
    expect(messages).not.toMatch(/There is no|are not asked for|Without MTA-STS/)
  })

  it('explains why the MTA-STS policy could not be fetched', async () => {
    expect((await checkWith({}, { policy: { status: 404 } })).mtaSts).toMatchObject({
      found: true,
      policy: null,
      policyError: expect.stringContaining('status 404'),
    })
    const refused = new Fault('target_not_allowed', 'mta-sts.example.com has the address 10.0.0.1.')
    expect((await checkWith({}, { policy: refused })).mtaSts.policyError).toContain('10.0.0.1')
  })

  it('uses the organizational domain’s BIMI record for the name', async () => {
    const records = {
      'www.example.com A': ['192.0.2.1'],
      'default._bimi.example.com TXT': [
        'v=BIMI1; l=https://example.com/l.svg; a=https://example.com/l.pem',
      ],
    }
    expect((await checkWith(records, { domain: 'www.example.com' })).bimi).toMatchObject({
      found: true,
      missing: [],
    })
  })

  it.each([
    ['MÜNCHEN.example.', 'xn--mnchen-3ya.example', 'münchen.example'],
    ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example', 'münchen.example'],
  ])('takes %s', async (domain, name, unicodeDomain) => {
    const result = await checkWith({ 'xn--mnchen-3ya.example A': ['192.0.2.1'] }, { domain })
    expect(result).toMatchObject({ domain: name, unicodeDomain, status: 'NOERROR' })
  })

  it('accepts a public suffix, whose record applies to names registered below it', async () => {
    const result = await checkWith(
      {
        'uk SOA': ['ns.uk. hostmaster.uk. 1 2 3 4 5'],
        'uk MX': ['10 mx.uk'],
        '_dmarc.uk TXT': ['v=DMARC1; p=none; sp=none; np=reject; psd=y; rua=mailto:a@uk'],
      },
      { domain: 'uk' },
    )
    expect(matches(MailAuthResult, result)).toBe(true)
    expect(result).toMatchObject({
      domain: 'uk',
      dmarc: { found: true, inheritedFrom: null, effectivePolicy: 'none' },
    })
    expect(result.warnings.filter(({ about }) => about === 'dmarc')).toEqual([])
    const without = await checkWith({ 'uk TXT': ['of the registry'] }, { domain: 'uk' })
    expect(without.warnings.filter(({ about }) => about === 'dmarc')).toMatchObject([
      {
        severity: 'info',
        message: expect.stringMatching(/^uk is a public suffix without a DMARC record.*psd=y/),
      },
    ])
  })

  it('warns about a record with leading white space, which receivers ignore', async () => {
    const result = await checkWith({ '_dmarc.example.com TXT': [' v=DMARC1; p=reject'] })
    expect(result.dmarc).toMatchObject({ found: false, record: null, tags: {} })
    expect(result.warnings.find(({ about }) => about === 'dmarc')).toMatchObject({
      severity: 'error',
      message: expect.stringMatching(/not recognized as DMARC: it begins with white space/),
      publish: { name: '_dmarc.example.com', value: 'v=DMARC1; p=reject' },
    })
  })

  it.each([
    ['192.0.2.1', /IP address/],
    ['[2001:db8::1]', /IP address/],
    ['12', /number/],
    ['alice@example.com', /only its domain: example\.com/],
    ['https://example.com/', /URL/],
    ['', /empty/],
    [`${'a'.repeat(64)}.example`, /63/],
  ])('refuses %j, and says why', async (domain, message) => {
    await expect(checkWith({}, { domain })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(message),
      details: [{ path: 'domain' }],
    })
  })

  it.each(['', 'a b', 'a/b', 'a'.repeat(64)])('refuses %j as a selector', async (selector) => {
    await expect(checkWith({}, { selector: [selector] })).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'selector' }],
    })
  })

  it('fails only when nothing at all was answered', async () => {
    await expect(checkWith({}, { failures: { '*': 'TIMEOUT' } })).rejects.toMatchObject({
      code: 'upstream_timeout',
    })
    await expect(checkWith({}, { failures: { '*': 'SERVFAIL' } })).rejects.toMatchObject({
      code: 'upstream_unreachable',
      message: expect.stringContaining('SERVFAIL'),
    })
    await expect(checkWith({}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'upstream_timeout',
    })
  })
})

describe('any published record', () => {
  const STARTS: Records = {
    'example.com TXT': ['v=spf1 '],
    '_dmarc.example.com TXT': ['v=DMARC1; '],
    'mail._domainkey.example.com TXT': ['v=DKIM1; '],
    '_mta-sts.example.com TXT': ['v=STSv1; '],
    '_smtp._tls.example.com TXT': ['v=TLSRPTv1; '],
    'default._bimi.example.com TXT': ['v=BIMI1; '],
  }
  const everywhere = (text: string): Records =>
    Object.fromEntries(
      Object.entries(STARTS).map(([key, [start]]) => [key, [`${String(start)}${text}`]]),
    )

  it('is answered in the agreed shape', async () => {
    await fc.assert(
      fc.asyncProperty(hostile(), async (text) => {
        const result = await checkWith(everywhere(text), { policy: { body: Buffer.from(text) } })
        expect(matches(MailAuthResult, JSON.parse(JSON.stringify(result)))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it.each([
    'a ',
    'include:x.example ',
    'x=y;',
    'rua=mailto:a@b.example,',
    ';',
    ' ',
    'p=',
    'mx: a\n',
  ])('is answered soon, were it %j for 64 KB', async (piece) => {
    const text = piece.repeat(65_000 / piece.length)
    const started = performance.now()
    await checkWith(everywhere(text), { policy: { body: Buffer.from(text) } })
    expect(performance.now() - started).toBeLessThan(15_000)
  })
})

describe('the mail check against a name server', () => {
  let dns: DnsServer
  beforeAll(async () => {
    dns = await startDns({ records: GOOD })
  })
  afterAll(() => dns.close())

  async function checkWithin(ms: number, domain = 'example.com') {
    const resolver = createResolver({ servers: [dns], timeoutMs: 400 })
    const deps = { resolver, allowPrivate: false } as unknown as Parameters<
      typeof mailAuthCheck.run
    >[1]
    const started = performance.now()
    try {
      const result = await mailAuthCheck.run({ domain }, deps, AbortSignal.timeout(ms))
      return { result, ms: performance.now() - started }
    } finally {
      resolver.close()
    }
  }

  it('reports in time the answers of a name server that ignores other queries', async () => {
    dns.behaviours['*._domainkey.example.com TXT'] = 'silent'
    dns.behaviours['_dmarc.example.com TXT'] = 'silent'
    const { result, ms } = await checkWithin(700)
    expect(ms).toBeLessThan(5_000)
    expect(result.spf).toMatchObject({ found: true, lookups: 2 })
    expect(result.dmarc).toMatchObject({ found: false, error: 'TIMEOUT' })
    expect(result.dkim.every((item) => !item.found && item.error === 'TIMEOUT')).toBe(true)
    expect(result.truncated).toEqual([expect.stringMatching(/^\d+ of \d+ DKIM selectors\.$/)])
    for (const key of Object.keys(dns.behaviours)) delete dns.behaviours[key]
  })

  it('finds a record of the obsolete type SPF', async () => {
    dns.records['obsolete.example TXT'] = ['v=spf1 -all']
    dns.behaviours['obsolete.example SPF'] = { bytes: obsoleteAnswer }
    const { result } = await checkWithin(5_000, 'obsolete.example')
    expect(result.warnings).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('type SPF (99)') }),
    )
  })
})

/** `obsolete.example SPF "v=spf1 -all"`; dns-packet cannot write this type. */
function obsoleteAnswer(id: number): Buffer {
  const question = Buffer.from('\u0008obsolete\u0007example\0\0\u0063\0\u0001', 'latin1')
  const text = 'v=spf1 -all'
  const record = Buffer.from(
    `\u00c0\u000c\0\u0063\0\u0001\0\0\0\u003c\0\u000c\u000b${text}`,
    'latin1',
  )
  const header = Buffer.from([id >> 8, id & 255, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
  return Buffer.concat([header, question, record])
}

describe('the endpoint', () => {
  let dns: DnsServer
  let portreeve: TestService
  beforeAll(async () => {
    dns = await startDns({ records: GOOD })
    portreeve = await startTestService({
      DNS_SERVERS: `127.0.0.1:${dns.port}`,
      ALLOW_PRIVATE_TARGETS: 'false',
    })
  })
  afterAll(async () => {
    await portreeve.stop()
    await dns.close()
  })

  it('returns the same result to Alice and Bob, and 401 to Charlie without an account', async () => {
    const path = '/api/v1/dmarc-check?domain=example.com'
    for (const name of ['Alice', 'Bob']) {
      const { token } = await portreeve.addPerson(name)
      const answer = await portreeve.request(path, { token })
      expect(answer.status).toBe(200)
      expect(await answer.json()).toMatchObject({
        success: true,
        data: {
          dmarc: { found: true },
          spf: { found: true },
          dkim: [{ selector: 'mail', found: true }, {}, {}, {}, {}, {}, {}, {}, {}, {}],
        },
      })
    }
    const stranger = await portreeve.request(path)
    expect(stranger.status).toBe(401)
    expect(await stranger.json()).toMatchObject({ success: false, code: 'unauthenticated' })
  })

  it('accepts one selector or several', async () => {
    const { token } = await portreeve.addPerson('Selma')
    for (const selectors of [['one'], ['one', 'two']]) {
      const query = selectors.map((selector) => `&selector=${selector}`).join('')
      const answer = await portreeve.request(`/api/v1/dmarc-check?domain=example.com${query}`, {
        token,
      })
      const { data } = (await answer.json()) as { data: MailAuthResult }
      const listed = data.dkim.map(({ selector }) => selector)
      expect(selectors.every((selector) => listed.includes(selector))).toBe(true)
    }
  })

  it('returns 400 for an invalid domain', async () => {
    const { token } = await portreeve.addPerson('Dora')
    for (const query of [
      'domain=alice@example.com',
      'domain=192.0.2.1',
      '',
      'domain=example.com&selector=a/b',
    ]) {
      const answer = await portreeve.request(`/api/v1/dmarc-check?${query}`, { token })
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ success: false, code: 'invalid_request' })
    }
  })
})
