import { describe, expect, it } from 'vitest'
import type { DnsFailure } from '../../src/net/dns.ts'
import { parseDkimKey } from '../../src/protocols/dkim/dkim-key.ts'
import { parseDmarc } from '../../src/protocols/dmarc/dmarc-record.ts'
import { isSpf, parseSpf } from '../../src/protocols/spf/spf-record.ts'
import type { Records } from '../servers/dns-records.ts'
import { checkWith, rsaKey } from './mail-domain.ts'

const DMARC = '_dmarc.example.com'
const SPF = 'example.com'
const report = 'rua=mailto:dmarc@example.com'

async function adviceOn(about: string, records: Records) {
  const { warnings } = await checkWith(records)
  return warnings.filter((warning) => warning.about === about)
}

const dmarc = (...texts: string[]) => adviceOn('dmarc', { [`${DMARC} TXT`]: texts })
const spf = (...texts: string[]) => adviceOn('spf', { [`${SPF} TXT`]: texts })

describe('advice on DMARC', () => {
  it.each([
    [[], 'error', /no DMARC record/, 'v=DMARC1; p=none; rua=mailto:dmarc-reports@example.com'],
    [['v=DMARC1 p=reject'], 'error', /semicolon/, 'v=DMARC1; p=reject'],
    [
      [`v=DMARC1; p=reject; ${report}`, 'v=DMARC1; p=none'],
      'error',
      /2 DMARC records/,
      `v=DMARC1; p=reject; ${report}`,
    ],
    [
      ['v=DMARC1; p=reject'],
      'warning',
      /no rua address/,
      'v=DMARC1; p=reject; rua=mailto:dmarc-reports@example.com',
    ],
    [
      [`v=DMARC1; p=reject; pct=50; ${report}`],
      'warning',
      /pct=50/,
      `v=DMARC1; p=reject; t=y; pct=50; ${report}`,
    ],
    [
      [`v=DMARC1; p=reject; pct=100; ${report}`],
      'info',
      /removed pct/,
      `v=DMARC1; p=reject; ${report}`,
    ],
    [
      [`v=DMARC1; p=reject; sp=none; ${report}`],
      'warning',
      /sp=none is weaker/,
      `v=DMARC1; p=reject; ${report}`,
    ],
    [
      [`v=DMARC1; p=reject; np=none; ${report}`],
      'warning',
      /np=none is weaker/,
      `v=DMARC1; p=reject; ${report}`,
    ],
    [
      [`v=DMARC1; p=reject; foo=bar; ${report}`],
      'info',
      /does not define: foo/,
      `v=DMARC1; p=reject; ${report}`,
    ],
    [
      [`v=DMARC1; p=reject; adkim=x; ${report}`],
      'warning',
      /adkim=x/,
      `v=DMARC1; p=reject; ${report}`,
    ],
    [
      [`v=DMARC1; p=reject; p=none; ${report}`],
      'warning',
      /character 21/,
      `v=DMARC1; p=reject; ${report}`,
    ],
    [[`v=DMARC1; p=reject; ${report}!10m`], 'info', /size limits/, `v=DMARC1; p=reject; ${report}`],
    [
      [`v=DMARC1; p=reject; ${report}; fo=1`],
      'info',
      /without ruf/,
      `v=DMARC1; p=reject; ${report}`,
    ],
    [[`v=DMARC1; ${report}`], 'warning', /no valid p/, `v=DMARC1; p=none; ${report}`],
  ])(
    'about %j is of the kind %s, says %s and mends it',
    async (texts, severity, message, value) => {
      const advice = await dmarc(...texts)
      expect(advice[0]).toMatchObject({ severity, message: expect.stringMatching(message) })
      expect(advice[0]?.publish).toEqual({ name: DMARC, type: 'TXT', value })
      expect(parseDmarc(value)).not.toBeNull()
    },
  )

  it('proposes no stricter policy: only reports show whether it is safe', async () => {
    const [first] = await dmarc(`v=DMARC1; p=none; ${report}`)
    expect(first?.severity).toBe('info')
    expect(first?.message).toMatch(/spoofed mail is delivered/)
    expect(first?.publish).toBeUndefined()
  })

  it('proposes no end of a test of the policy either', async () => {
    const [first] = await dmarc(`v=DMARC1; p=reject; t=y; ${report}`)
    expect(first).toMatchObject({
      severity: 'info',
      message: expect.stringMatching(/one level less/),
    })
    expect(first?.publish).toBeUndefined()
  })

  it.each([
    [
      `v=DMARC1; ${report}; p=reject`,
      'info',
      /p tag does not directly follow/,
      `v=DMARC1; p=reject; ${report}`,
    ],
    [
      `v=DMARC1; P=reject; ${report}`,
      'warning',
      /may ignore P\. Write/,
      `v=DMARC1; p=reject; ${report}`,
    ],
    [
      `v=DMARC1; p=reject; SP=none; ${report}`,
      'warning',
      /may ignore SP\. Write/,
      `v=DMARC1; p=reject; sp=none; ${report}`,
    ],
    [
      `v=DMARC1; p=reject; fo=0:1; ruf=mailto:f@example.com; ${report}`,
      'warning',
      /fo=0:1/,
      `v=DMARC1; p=reject; ${report}; ruf=mailto:f@example.com`,
    ],
  ])('of %j says what receivers make of it', async (text, severity, message, value) => {
    expect(await dmarc(text)).toContainEqual({
      about: 'dmarc',
      severity,
      message: expect.stringMatching(message),
      publish: { name: DMARC, type: 'TXT', value },
    })
  })

  it('accepts V=DMARC1, and reports v=dmarc1 as a mistake', async () => {
    expect(await dmarc(`V=DMARC1; p=reject; ${report}`)).toEqual([])
    expect(await dmarc(`v=dmarc1; p=reject; ${report}`)).toMatchObject([
      { severity: 'error', message: expect.stringMatching(/exactly `v=DMARC1`/) },
    ])
  })

  it('finds the SPF record among DMARC ones, and the DMARC record at the domain itself', async () => {
    expect(await dmarc(`v=DMARC1; p=reject; ${report}`, 'v=spf1 mx -all')).toMatchObject([
      {
        severity: 'info',
        message: expect.stringMatching(/“v=spf1 mx -all” at _dmarc\.example\.com has no effect/),
      },
    ])
    expect(await dmarc('v=spf1 mx -all')).toMatchObject([
      { severity: 'error', message: expect.stringMatching(/no DMARC record/) },
      { severity: 'info', message: expect.stringMatching(/receivers read SPF at example\.com/) },
    ])
    const misplaced = await adviceOn('dmarc', {
      [`${DMARC} TXT`]: [],
      'example.com TXT': ['v=spf1 mx -all', `v=DMARC1; p=reject; ${report}`],
    })
    expect(misplaced).toMatchObject([
      {
        severity: 'error',
        message: expect.stringMatching(/at example\.com itself/),
        publish: { name: DMARC, value: `v=DMARC1; p=reject; ${report}` },
      },
    ])
  })

  it('does not mention a DMARC record elsewhere when the lookup here failed', async () => {
    const { warnings } = await checkWith(
      { 'example.com TXT': ['v=spf1 mx -all', 'v=DMARC1; p=reject'] },
      { failures: { [`${DMARC} TXT`]: 'SERVFAIL' } },
    )
    expect(warnings.filter(({ about }) => about === 'dmarc')).toMatchObject([
      { message: expect.stringMatching(/SERVFAIL/) },
    ])
  })

  it('explains that sp and np have no effect below the organizational domain, and does not call them weak there', async () => {
    const records = {
      'sub.example.com A': ['192.0.2.1'],
      '_dmarc.sub.example.com TXT': [`v=DMARC1; p=reject; sp=none; ${report}`],
    }
    const advice = (await checkWith(records, { domain: 'sub.example.com' })).warnings.filter(
      ({ about }) => about === 'dmarc',
    )
    expect(advice).toMatchObject([
      {
        severity: 'info',
        message: expect.stringMatching(/ignore sp here.*_dmarc\.example\.com/),
        publish: { value: `v=DMARC1; p=reject; ${report}` },
      },
    ])
  })

  describe('on report destinations', () => {
    const to = (host: string, records: Records, failures: Record<string, DnsFailure> = {}) =>
      checkWith(
        {
          [`${DMARC} TXT`]: [`v=DMARC1; p=reject; rua=mailto:a@${host},mailto:b@example.com`],
          [`example.com._report._dmarc.${host} TXT`]: ['v=DMARC1;'],
          ...records,
        },
        { failures },
      ).then(({ warnings }) => warnings.filter(({ about }) => about === 'dmarc'))

    it('names the host that receives no mail, and proposes no record without it', async () => {
      const lost = {
        severity: 'error',
        message:
          'Reports to mailto:a@gone.example cannot be delivered: gone.example does not receive mail. Correct the address.',
        publish: undefined,
      }
      expect(await to('gone.example', {})).toMatchObject([lost])
      expect(
        await to('gone.example', { 'gone.example MX': ['0 .'], 'gone.example A': ['192.0.2.5'] }),
      ).toMatchObject([lost])
    })

    it('mentions one that has an address but no MX, and is silent about one that has', async () => {
      expect(await to('host.example', { 'host.example A': ['192.0.2.5'] })).toMatchObject([
        { severity: 'info', message: expect.stringMatching(/host\.example has no MX record/) },
      ])
      expect(await to('host.example', { 'host.example MX': ['10 mx.host.example'] })).toEqual([])
    })

    it('does not claim that a host receives no mail when the lookup failed', async () => {
      expect(await to('lame.example', {}, { 'lame.example MX': 'SERVFAIL' })).toMatchObject([
        {
          severity: 'warning',
          message: expect.stringMatching(/mail servers of lame\.example .*SERVFAIL/),
        },
      ])
    })
  })

  it('distinguishes an address without mailto: from a missing one', async () => {
    const [first] = await dmarc('v=DMARC1; p=reject; rua=dmarc@example.com')
    expect(first).toMatchObject({
      severity: 'error',
      message: expect.stringContaining('“dmarc@example.com”'),
    })
    expect(first?.publish?.value).toBe('v=DMARC1; p=reject; rua=mailto:dmarc@example.com')
  })

  it('requires the consent of other domains, at their name', async () => {
    const advice = await adviceOn('dmarc', {
      [`${DMARC} TXT`]: ['v=DMARC1; p=reject; rua=mailto:a@reports.example.net'],
      'reports.example.net MX': ['10 mail.example.net'],
    })
    expect(advice).toMatchObject([
      {
        severity: 'error',
        publish: {
          name: 'example.com._report._dmarc.reports.example.net',
          type: 'TXT',
          value: 'v=DMARC1',
        },
      },
    ])
  })

  it('reports a record that no receiver can use', async () => {
    const advice = await dmarc('v=DMARC1; p=never')
    expect(advice.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('receivers ignore the record'),
    )
    expect(
      (await checkWith({ [`${DMARC} TXT`]: ['v=DMARC1; p=never'] })).dmarc.effectivePolicy,
    ).toBeNull()
  })
})

describe('advice on SPF', () => {
  it.each([
    [[], 'error', /no SPF record/, 'v=spf1 mx ~all'],
    [['v=spf1 mx -all', 'v=spf1 a -all'], 'error', /2 SPF records/, 'v=spf1 mx a -all'],
    [['"v=spf1 mx -all"'], 'error', /must begin with exactly/, 'v=spf1 mx -all'],
    [['v=spf1 mx ip:192.0.2.1 -all'], 'error', /at character 11/, 'v=spf1 mx ip4:192.0.2.1 -all'],
    [['v=spf1 mx +all'], 'error', /permits every server/, 'v=spf1 mx ~all'],
    [['v=spf1 mx all'], 'error', /permits every server/, 'v=spf1 mx ~all'],
    [['v=spf1 mx ?all'], 'warning', /neutral about spoofed mail/, 'v=spf1 mx ~all'],
    [['v=spf1 mx'], 'warning', /does not list/, 'v=spf1 mx ~all'],
    [['v=spf1 mx -all a'], 'warning', /after all .* a\./, 'v=spf1 mx a -all'],
    [['v=spf1 mx ip4:0.0.0.0/0 -all'], 'error', /large part of the Internet/, 'v=spf1 mx -all'],
    [['v=spf1 mx x=y -all'], 'info', /unknown terms: x=y/, 'v=spf1 mx -all'],
  ])(
    'about %j is of the kind %s, says %s and mends it',
    async (texts, severity, message, value) => {
      const [first] = await spf(...texts)
      expect(first).toMatchObject({ severity, message: expect.stringMatching(message) })
      expect(first?.publish).toEqual({ name: SPF, type: 'TXT', value })
      expect(isSpf(value) && parseSpf(value).errors).toEqual([])
    },
  )

  it.each([
    [
      'v=spf1 mx include=_spf.example.net -all',
      'warning',
      /ignore include=_spf\.example\.net\. Write a colon/,
      'v=spf1 mx include:_spf.example.net -all',
    ],
    [
      'v=spf1 mx ip4=192.0.2.9 -all',
      'warning',
      /ignore ip4=192\.0\.2\.9/,
      'v=spf1 mx ip4:192.0.2.9 -all',
    ],
    ['v=spf1 mx -all exp=two.example', 'info', /two\.example has 2 TXT records/, 'v=spf1 mx -all'],
    [
      'v=spf1 mx -all exp=bad.example',
      'info',
      /the text at bad\.example is invalid/,
      'v=spf1 mx -all',
    ],
    [
      `v=spf1 mx ${'ip4:192.0.2.99 '.repeat(40)}-all`,
      'warning',
      /has 614 bytes/,
      'v=spf1 mx ip4:192.0.2.99 -all',
    ],
  ])(
    'about %j is of the kind %s, says %s and mends it, whatever stands elsewhere',
    async (text, severity, message, value) => {
      const beside = { 'two.example TXT': ['one', 'two'], 'bad.example TXT': ['100%'] }
      const advice = await adviceOn('spf', {
        [`${SPF} TXT`]: [text],
        'mail.example.com A': ['192.0.2.3'],
        ...beside,
      })
      expect(advice).toMatchObject([
        { severity, message: expect.stringMatching(message), publish: { name: SPF, value } },
      ])
    },
  )

  it.each([
    ['v=spf1 mx ptr -all', 'warning', /ptr is slow/],
    ['v=spf1 mx a:%{c}.example.com -all', 'error', /%\{c\} is allowed only.* is not certain/],
    ['v=spf1 mx ip4:192.0.2.1/2 -all', 'error', /1\/2 permits a large part of the Internet/],
    ['v=spf1 +all', 'error', /\+all permits every server/],
  ])('about %j proposes no record, which would stop mail', async (text, severity, message) => {
    const [first] = await spf(text)
    expect(first).toMatchObject({ severity, message: expect.stringMatching(message) })
    expect(first?.publish).toBeUndefined()
  })

  it('gives the text that exp should lead to', async () => {
    const advice = await spf('v=spf1 mx -all exp=why.example.com')
    expect(advice).toMatchObject([
      {
        severity: 'info',
        message: expect.stringMatching(/why\.example\.com has no TXT record/),
        publish: { name: 'why.example.com' },
      },
    ])
    const [failed] = (
      await checkWith(
        { 'example.com TXT': ['v=spf1 mx -all exp=why.example.com'] },
        { failures: { 'why.example.com TXT': 'SERVFAIL' } },
      )
    ).warnings
    expect(failed).toMatchObject({
      severity: 'warning',
      message: expect.stringMatching(/could not be looked up/),
    })
    expect(
      await adviceOn('spf', {
        'example.com TXT': ['v=spf1 mx -all exp=why.example.com'],
        'why.example.com TXT': ['%{i} is not ours.'],
      }),
    ).toEqual([])
    expect(await spf('v=spf1 mx -all exp=%{i}.why.example.com')).toEqual([])
  })

  it('explains how to shorten a record of more than 512 bytes', async () => {
    const addresses = Array.from(
      { length: 40 },
      (_, index) => `ip4:198.51.100.${index + 100}`,
    ).join(' ')
    const advice = await spf(`v=spf1 mx ${addresses} -all`)
    expect(advice).toMatchObject([
      { severity: 'warning', message: expect.stringMatching(/has 774 bytes.*at another name/) },
    ])
    expect(await spf(`v=spf1 mx ${addresses.slice(0, 493)} -all`)).toEqual([])
  })

  it('counts items beyond the limit', async () => {
    const hosts = Array.from({ length: 11 }, (_, index) => `a:h${index}.example.com`).join(' ')
    const advice = await spf(`v=spf1 ${hosts} -all`)
    expect(
      advice.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    ).toEqual([
      expect.stringContaining('needs 11 DNS lookups'),
      expect.stringContaining('11 lookups find nothing'),
    ])
  })

  it('names the include that breaks the record', async () => {
    const [first] = await spf('v=spf1 include:gone.example -all')
    expect(first).toMatchObject({
      severity: 'error',
      message: expect.stringMatching(/`include:gone\.example` makes the record fail/),
    })
  })

  it('starts with the include of the provider that the MX shows', async () => {
    const [first] = await adviceOn('spf', {
      'example.com TXT': [],
      'example.com MX': ['1 smtp.google.com'],
    })
    expect(first?.publish?.value).toBe('v=spf1 include:_spf.google.com ~all')
  })
})

describe('advice on DKIM', () => {
  const mail = 'mail._domainkey.example.com'
  const dkim = (...texts: string[]) => adviceOn('dkim', { [`${mail} TXT`]: texts })

  it.each([
    [[rsaKey(512)], 'error', /512 bits/],
    [[rsaKey(1024)], 'warning', /1024 bits/],
    [[rsaKey(2048), rsaKey(2048)], 'error', /2 keys/],
    [['v=DKIM1; p=AAAA'], 'error', /Receivers reject/],
    [['v=DKIM1; p='], 'info', /revoked/],
    [[], 'warning', /Nothing exists below _domainkey/],
  ])('is of the kind %#', async (texts, severity, message) => {
    expect(await dkim(...texts)).toMatchObject([
      { severity, message: expect.stringMatching(message) },
    ])
  })

  it('gives a key back that is only badly written', async () => {
    const record = rsaKey(2048)
    const advice = await dkim(record.replace('; ', ';; '))
    expect(advice).toMatchObject([
      {
        severity: 'error',
        message: expect.stringMatching(/nothing stands between two semicolons/),
        publish: { name: mail, value: record },
      },
    ])
    const [cut] = await dkim('v=DKIM1;; p=AAAA')
    expect(cut).not.toHaveProperty('publish.value')
  })

  it('mentions a key that is longer than receivers must support', async () => {
    expect(await dkim(rsaKey(4104))).toMatchObject([
      { severity: 'info', message: expect.stringMatching(/4104 bits.*4096/) },
    ])
  })

  it('gives the key back without the test flag', async () => {
    const [first] = await dkim(`${rsaKey(2048)}; t=y:s`)
    expect(first).toMatchObject({ severity: 'warning', publish: { name: mail } })
    expect(parseDkimKey(first?.publish?.value ?? '')).toMatchObject({
      testing: false,
      strict: true,
      bits: 2048,
      errors: [],
    })
  })

  it('explains that selectors cannot be listed when none was found', async () => {
    const advice = await adviceOn('dkim', {
      [`${mail} TXT`]: [],
      'secret._domainkey.example.com TXT': [rsaKey(2048)],
    })
    expect(advice).toMatchObject([
      { severity: 'warning', message: expect.stringMatching(/cannot be listed\. Find “s=”/) },
    ])
  })

  it('warns of a wildcard and of an alias that leads to no key', async () => {
    const wildcard = await adviceOn('dkim', { '*._domainkey.example.com TXT': [rsaKey(2048)] })
    expect(wildcard).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('a wildcard') },
    ])
    const alias = await adviceOn('dkim', {
      'selector1._domainkey.example.com CNAME': ['selector1.gone.example'],
    })
    expect(alias).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('Turn on DKIM') },
    ])
  })

  it('reads a wildcard without a key as a domain that signs nothing', async () => {
    const records = {
      [`${mail} TXT`]: [],
      'example.com MX': ['0 .'],
      'example.com TXT': ['v=spf1 -all'],
    }
    expect(
      await adviceOn('dkim', { ...records, '*._domainkey.example.com TXT': ['v=DKIM1; p='] }),
    ).toEqual([])
  })

  it('names providers whose selectors cannot be guessed', async () => {
    const advice = await adviceOn('dkim', {
      'example.com TXT': ['v=spf1 include:amazonses.com -all'],
    })
    expect(advice).toMatchObject([
      { severity: 'info', message: expect.stringContaining('Amazon SES') },
    ])
  })
})

describe('advice on BIMI', () => {
  const LOGO = 'v=BIMI1; l=https://example.com/logo.svg; a=https://example.com/logo.pem'
  const [OWN, ABOVE] = ['default._bimi.sub.example.com', 'default._bimi.example.com']
  const bimi = async (records: Records, failures: Record<string, DnsFailure> = {}) => {
    const found = await checkWith(
      { 'sub.example.com A': ['192.0.2.1'], ...records },
      { domain: 'sub.example.com', failures },
    )
    return { ...found.bimi, advice: found.warnings.filter(({ about }) => about === 'bimi') }
  }

  it('explains that several records count as none', async () => {
    expect(await bimi({ [`${ABOVE} TXT`]: [LOGO, LOGO.replaceAll('; ', ';')] })).toMatchObject({
      found: true,
      missing: ['a single BIMI record instead of several'],
      advice: [
        {
          severity: 'error',
          message: expect.stringMatching(/2 BIMI records/),
          publish: { name: ABOVE, value: LOGO },
        },
      ],
    })
  })

  it('uses the organizational domain’s record only where the domain has none', async () => {
    expect(await bimi({ [`${ABOVE} TXT`]: [LOGO] })).toMatchObject({
      found: true,
      record: LOGO,
      missing: [],
      advice: [],
    })
    expect(await bimi({ [`${ABOVE} TXT`]: [LOGO], [`${OWN} TXT`]: ['v=BIMI1; l='] })).toMatchObject(
      {
        record: 'v=BIMI1; l=',
      },
    )
  })

  it('does not show the organization’s record when the domain’s own could not be looked up', async () => {
    expect(await bimi({ [`${ABOVE} TXT`]: [LOGO] }, { [`${OWN} TXT`]: 'SERVFAIL' })).toMatchObject({
      found: false,
      error: 'SERVFAIL',
      advice: [],
    })
  })
})

describe('advice for a domain without mail', () => {
  const none = {
    '_dmarc.example.com TXT': [],
    'mail._domainkey.example.com TXT': [],
    'example.com TXT': [],
    '_mta-sts.example.com TXT': [],
    '_smtp._tls.example.com TXT': [],
  }

  it.each([
    ['a null MX', { 'example.com MX': ['0 .'] }],
    [
      'neither MX nor address',
      { 'example.com MX': [], 'example.com A': [], 'example.com NS': ['ns.example.net'] },
    ],
  ] as [string, Records][])('with %s is to let nobody send', async (_what, records) => {
    const { warnings } = await checkWith({ ...none, ...records })
    expect(warnings.map(({ about, publish }) => [about, publish?.name, publish?.value])).toEqual([
      ['dmarc', DMARC, 'v=DMARC1; p=reject; adkim=s; aspf=s'],
      ['spf', SPF, 'v=spf1 -all'],
      ['dkim', '*._domainkey.example.com', 'v=DKIM1; p='],
    ])
  })

  it('does not judge the organizational domain, whose mail it may be', async () => {
    const records = { '_dmarc.example.com TXT': [], 'idle.example.com NS': ['ns.example.net'] }
    const { warnings } = await checkWith(records, { domain: 'idle.example.com' })
    expect(warnings[0]).toMatchObject({
      publish: { name: '_dmarc.idle.example.com', value: 'v=DMARC1; p=reject; adkim=s; aspf=s' },
    })
    const inherited = {
      '_dmarc.example.com TXT': [`v=DMARC1; p=none; ${report}`],
      'idle.example.com NS': ['ns.example.net'],
    }
    const advice = (await checkWith(inherited, { domain: 'idle.example.com' })).warnings
    expect(
      advice.filter(({ publish }) => publish?.name === DMARC).map(({ publish }) => publish?.value),
    ).toEqual([])
  })

  it('is of no use for a name that does not exist', async () => {
    const { warnings, status } = await checkWith({}, { domain: 'nowhere.example.org' })
    expect(status).toBe('NXDOMAIN')
    expect(warnings).toMatchObject([
      { publish: { name: '_dmarc.example.org', value: expect.stringMatching(/p=none/) } },
    ])
    const nothing = await checkWith({}, { domain: 'example.org' })
    expect(nothing.warnings).toEqual([
      {
        about: 'dmarc',
        severity: 'error',
        message: 'example.org does not exist in the DNS (NXDOMAIN).',
      },
    ])
  })

  it('is not given to one that only sends', async () => {
    const { warnings } = await checkWith({
      ...none,
      'example.com MX': ['0 .'],
      'example.com TXT': ['v=spf1 ip4:192.0.2.1 -all'],
    })
    const proposed = warnings.find(({ about }) => about === 'dmarc')?.publish?.value
    expect(proposed).toBe('v=DMARC1; p=none')
  })

  it('recommends reject where less is published', async () => {
    const { warnings } = await checkWith({
      ...none,
      'example.com MX': ['0 .'],
      'example.com TXT': ['v=spf1 -all'],
      '_dmarc.example.com TXT': [`v=DMARC1; p=quarantine; ${report}`],
    })
    expect(warnings[0]).toMatchObject({
      severity: 'error',
      message: expect.stringMatching(/does not receive mail/),
    })
    expect(warnings[1]).toMatchObject({
      about: 'dmarc',
      publish: { value: `v=DMARC1; p=reject; ${report}` },
    })
  })

  it('is for either case where a host has an address but no MX', async () => {
    const { warnings } = await checkWith({ 'example.com MX': [], 'example.com TXT': [] })
    expect(warnings.find(({ about }) => about === 'spf')).toMatchObject({
      severity: 'warning',
      message: expect.stringContaining('If it sends no mail'),
      publish: { value: 'v=spf1 -all' },
    })
  })
})
