import { describe, expect, it, onTestFinished } from 'vitest'
import { Fault } from '../../../src/errors.ts'
import { createAppender } from '../../../src/net/imap/append/append.ts'
import { fetchBodies } from '../../../src/net/imap/fetch/fetch-bodies.ts'
import { select } from '../../../src/net/imap/folders/mailbox.ts'
import { ImapRefused } from '../../../src/net/imap/connection/refusals.ts'
import type { SignIn } from '../../../src/net/imap/connection/imap-sign-in.ts'
import { startDovecot } from '../../servers/dovecot.ts'
import { startImapFake, type FakeOptions } from '../../servers/imap-fake.ts'
import { startProxy } from '../../servers/proxy.ts'
import { startPlainServer } from '../../servers/tls.ts'
import { startTokens } from '../../servers/tokens.ts'
import { mail, outgoing, signInTo } from './account.ts'

async function faultOf(port: number, over: Partial<SignIn> = {}): Promise<Fault> {
  const thrown: unknown = await signInTo(port, over).catch((error: unknown) => error)
  if (thrown instanceof Fault) return thrown
  throw new Error(`no fault but ${String(thrown)}`)
}

async function fakeFault(
  options: FakeOptions,
  over: Partial<SignIn> = {},
): Promise<Fault & { cause?: unknown }> {
  const fake = await startImapFake(options)
  onTestFinished(() => fake.close())
  return faultOf(fake.port, over)
}

const kindOf = (fault: Fault) =>
  fault.cause instanceof ImapRefused ? fault.cause.refusal.kind : null
const LOGIN_ANSWERS = (text: string): FakeOptions => ({
  script({ name }, reply) {
    if (name === 'LOGIN') reply.no(text)
    return name === 'LOGIN'
  },
})

describe('signing in', () => {
  it('works in the clear and over TLS, and explains certificate errors (case 39)', async () => {
    const server = await startDovecot()
    onTestFinished(() => server.stop())
    await server.addUser('alice', 'secret')
    const plain = await signInTo(server.port)
    const secured = await signInTo(server.tlsPort, { secure: true, tlsVerify: false })
    expect([
      plain.isEncrypted,
      secured.isEncrypted,
      plain.wire.capabilities.has('MULTIAPPEND'),
    ]).toEqual([false, true, true])
    await Promise.all([plain.wire.logout(), secured.wire.logout()])

    const unverified = await faultOf(server.tlsPort, { secure: true })
    expect([unverified.code, unverified.message]).toEqual([
      'upstream_unreachable',
      expect.stringMatching(/is self-signed\. .* clear “Verify the certificate” .*tlsVerify/),
    ])
    const notTls = await faultOf(server.port, { secure: true })
    expect([notTls.code, /TLS/.test(notTls.message)]).toEqual(['upstream_rejected', true])
    const wrong = await faultOf(server.port, { password: 'wrong' })
    expect([wrong.code, kindOf(wrong), /Authentication failed/.test(wrong.message)]).toEqual([
      'upstream_rejected',
      'sign_in',
      true,
    ])
    expect(wrong.message).not.toContain('wrong')
  })

  it('upgrades to TLS where a server offers STARTTLS', async () => {
    const server = await startDovecot({ starttls: true })
    onTestFinished(() => server.stop())
    await server.addUser('alice', 'secret')
    const proxy = await startProxy(server.port, { record: true })
    onTestFinished(() => proxy.close())
    const body = mail('over TLS', 'x'.repeat(70).concat('\r\n').repeat(3_000))
    const { wire, isEncrypted } = await signInTo(proxy.port, { tlsVerify: false })
    const { permanentFlags } = await select(wire, 'INBOX')
    const appender = createAppender(wire, 'INBOX', { permanentFlags })
    const [outcome] = await (await appender.submit([outgoing(body)])).outcomes
    expect([isEncrypted, outcome?.state]).toEqual([true, 'stored'])
    for await (const row of fetchBodies(wire, [{ uid: 1, size: body.length }])) {
      expect(row.state === 'here' && Buffer.isBuffer(row.body) && row.body.equals(body)).toBe(true)
    }
    await wire.logout()
    const sent = proxy.recorded('toServer').toString('latin1')
    expect(sent).toContain('STARTTLS')
    expect(sent).not.toMatch(/secret|LOGIN|AUTHENTICATE|APPEND/)

    const unverified = await faultOf(proxy.port)
    expect([unverified.code, /tlsVerify/.test(unverified.message)]).toEqual([
      'upstream_unreachable',
      true,
    ])
  })

  it('signs in with a token to a real server, and reports a rejected one', async () => {
    const tokens = await startTokens()
    onTestFinished(() => tokens.close())
    tokens.valid.set('good', 'alice')
    const server = await startDovecot({ tokensAt: tokens.url })
    onTestFinished(() => server.stop())
    const { wire } = await signInTo(server.port, { password: undefined, accessToken: 'good' })
    await wire.logout()
    const fault = await faultOf(server.port, { password: undefined, accessToken: 'expired' })
    expect([fault.code, kindOf(fault)]).toEqual(['upstream_rejected', 'sign_in'])
    expect(fault.message).toContain('refused the access token')
    expect(fault.message).not.toContain('“expired')
  })

  it('never sends a password in the clear to a public address', async () => {
    const fake = await startImapFake()
    onTestFinished(() => fake.close())
    const target = {
      host: 'mail.example.org',
      servername: 'mail.example.org',
      addresses: ['127.0.0.1', '8.8.8.8'],
    }
    const fault = await faultOf(fake.port, { target })
    expect([fault.code, /STARTTLS/.test(fault.message)]).toEqual(['upstream_rejected', true])
    expect(fake.lines.join('\n')).not.toMatch(/LOGIN|AUTHENTICATE|secret/)
  })

  it('distinguishes too many connections, throttling and a wrong password (case 38)', async () => {
    const words = [
      '[UNAVAILABLE] Maximum number of connections from user+IP exceeded',
      '[THROTTLED] slow',
      '[EXPIRED] old',
      'no',
    ]
    const faults = await Promise.all(words.map(async (text) => fakeFault(LOGIN_ANSWERS(text))))
    expect(faults.map(({ code }) => code)).toEqual(words.map(() => 'upstream_rejected'))
    expect(faults.map(kindOf)).toEqual(['too_many_connections', 'throttled', 'sign_in', 'sign_in'])
    expect(faults[3]?.message).toContain('refused the user name or password')
  })

  it('repeats a BYE in place of a greeting', async () => {
    const fault = await fakeFault({ greeting: '* BYE Too many connections from your address' })
    expect([fault.code, kindOf(fault)]).toEqual(['upstream_rejected', 'too_many_connections'])
    // Dovecot, while it is restarted: trying again helps.
    const restarting = await fakeFault({ greeting: '* BYE Shutting down' })
    expect([kindOf(restarting), restarting.message]).toEqual([
      'busy',
      expect.stringContaining('is not available for the moment'),
    ])
  })

  it('reports a server that allows no sign-in without TLS (LOGINDISABLED)', async () => {
    const fault = await fakeFault({ capability: 'IMAP4rev1 LOGINDISABLED' })
    expect([fault.code, /LOGINDISABLED/.test(fault.message)]).toEqual(['upstream_rejected', true])
  })

  it('reports a server without token sign-in', async () => {
    const fault = await fakeFault(
      { capability: 'IMAP4rev1 AUTH=PLAIN' },
      { password: undefined, accessToken: 'token' },
    )
    expect([fault.code, /takes no access tokens/.test(fault.message)]).toEqual([
      'upstream_rejected',
      true,
    ])
  })

  it('signs in with a token', async () => {
    const fake = await startImapFake({ capability: 'IMAP4rev1 AUTH=XOAUTH2 LITERAL+' })
    onTestFinished(() => fake.close())
    const { wire } = await signInTo(fake.port, { password: undefined, accessToken: 'token' })
    const sent = fake.commands.find(({ name }) => name === 'AUTHENTICATE')?.args.split(' ') ?? []
    expect([sent[0], Buffer.from(sent[1] ?? '', 'base64').toString()]).toEqual([
      'XOAUTH2',
      'user=alice\x01auth=Bearer token\x01\x01',
    ])
    await wire.logout()
  })

  it.each([
    ['AUTHENTICATE', 'BAD Unknown command', 'alice', 'LOGIN'],
    ['AUTHENTICATE', 'NO AUTHENTICATE mechanism not supported, mate', 'alice', 'LOGIN'],
    ['LOGIN', 'BAD Unknown command', 'DOM\\alice', 'AUTHENTICATE'],
  ])(
    'signs in the other way where a server answers %s with %s (neomutt#348, thunderbird-android#9406)',
    async (unknown, words, user, other) => {
      const fake = await startImapFake({
        capability: 'IMAP4rev1 AUTH=PLAIN',
        script({ name, tag }, reply) {
          if (name === unknown) reply.say(`${tag} ${words}`)
          return name === unknown
        },
      })
      onTestFinished(() => fake.close())
      const target = { host: 'localhost', servername: 'localhost', addresses: ['127.0.0.1'] }
      for (let times = 0; times < 2; times++) {
        const { wire } = await signInTo(fake.port, { user, target })
        await wire.logout()
      }
      const names = fake.commands
        .map(({ name }) => name)
        .filter((name) => /^(?:LOGIN|AUTH)/.test(name))
      expect(names).toEqual([unknown, other, other])
    },
  )

  it('sends a rejected password once', async () => {
    const fake = await startImapFake({
      capability: 'IMAP4rev1 AUTH=PLAIN',
      script({ name }, reply) {
        if (name === 'AUTHENTICATE') reply.no('no')
        return name === 'AUTHENTICATE'
      },
    })
    onTestFinished(() => fake.close())
    expect(kindOf(await faultOf(fake.port))).toBe('sign_in')
    expect(fake.commands.filter(({ name }) => /^(?:LOGIN|AUTH)/.test(name))).toHaveLength(1)
  })

  it('sends a password beyond ASCII in a literal (the-djmaze/snappymail#382)', async () => {
    const fake = await startImapFake()
    onTestFinished(() => fake.close())
    const { wire } = await signInTo(fake.port, { password: 'gehéim"\\ x' })
    await wire.logout()
    const sent = fake.commands.find(({ name }) => name === 'LOGIN')
    expect([sent?.args, sent?.literals.map(String)]).toEqual(['"alice" {11+}', ['gehéim"\\ x']])
  })

  it('rejects line breaks and NUL in credentials (case 49)', async () => {
    for (const over of [{ user: 'a\r\nx LOGOUT' }, { password: 'a\0' }, { accessToken: 'a\n' }]) {
      const fault = await faultOf(1, over)
      expect([fault.code, fault.details?.[0]?.path]).toEqual([
        'invalid_request',
        Object.keys(over)[0],
      ])
    }
  })

  it('distinguishes a closed port, a silent server and another protocol', async () => {
    expect((await faultOf(1)).code).toBe('upstream_unreachable')
    const silent = await startPlainServer()
    const other = await startPlainServer('220 smtp.example.org ESMTP\r\n', { hangUp: true })
    onTestFinished(() => Promise.all([silent.close(), other.close()]).then(() => undefined))
    expect((await faultOf(other.port)).code).toMatch(/^upstream_(rejected|unreachable)$/)
    const { signIn } = await import('../../../src/net/imap/connection/imap-session.ts')
    const target = { host: 'localhost', servername: undefined, addresses: ['127.0.0.1'] }
    const late = signIn(
      { target, port: silent.port, secure: false, user: 'a', password: 'b' },
      AbortSignal.timeout(200),
    )
    await expect(late).rejects.toMatchObject({ code: 'upstream_timeout' })
  })
})
