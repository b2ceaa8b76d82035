import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { IP } from '../servers/blacklists.ts'
import { EMAIL, startPlace, stepOf, type Place } from './place.ts'
import type { Process, Step } from './module.ts'

const WORDS = {
  cause: 'A guessed password sent spam.',
  fix: 'Password changed on 20 November 2026.',
}

let place: Place
beforeAll(async () => void (place = await startPlace()))
beforeEach(async () => {
  await place.reset()
  await place.list({ [EMAIL]: '127.0.0.2 Spam seen at a trap' })
})
afterAll(() => place.stop())

async function stepNow({ id }: Process): Promise<Step> {
  return stepOf(await place.read(id), EMAIL)
}

describe('the mail to a list', () => {
  it('states in plain English the listing, its cause, and the fix', async () => {
    const process = await place.begin(WORDS)
    await place.portreeve.tend()
    const [mail] = place.sink.mails
    expect(mail).toMatchObject({
      to: [{ address: 'delist@nordspam.com' }],
      from: { address: 'delisting@portreeve.example' },
      replyTo: [{ address: 'alice@people.test' }],
      subject: `Delist IP: ${IP}`,
    })
    for (const part of [
      IP,
      EMAIL,
      '127.0.0.2',
      'Spam seen at a trap',
      WORDS.cause,
      WORDS.fix,
      'mail.alice.example',
    ]) {
      expect(mail?.text).toContain(part)
    }
    const { request } = await stepNow(process)
    expect(request).toMatchObject({
      to: 'delist@nordspam.com',
      state: 'made',
      messageId: mail?.messageId,
    })
    expect(mail?.text?.trim()).toBe(request?.text.trim())
  })

  it('names further evidence for the server: its SPF record and its DMARC policy', async () => {
    place.dns.records['mail.alice.example TXT'] = [`v=spf1 ip4:${IP} -all`]
    place.dns.records['_dmarc.alice.example TXT'] = ['v=DMARC1; p=reject']
    const { id } = await place.begin(WORDS)
    await place.portreeve.tend()
    expect((await place.read(id)).reverseDns).toMatchObject({
      evidence: { spf: 'pass', dmarc: 'reject' },
    })
    expect(place.sink.mails[0]?.text).toContain(
      `Its reverse DNS is mail.alice.example, which resolves back to ${IP}. Its SPF record permits ${IP}. Its DMARC policy is reject.`,
    )
  })

  it('omits SPF and DMARC results that are negative or missing', async () => {
    place.dns.records['mail.alice.example TXT'] = ['v=spf1 -all']
    const { id } = await place.begin(WORDS)
    await place.portreeve.tend()
    expect((await place.read(id)).reverseDns).toMatchObject({
      evidence: { spf: 'fail', dmarc: null },
    })
    expect(place.sink.mails[0]?.text).not.toMatch(/SPF|DMARC/)
  })

  it('is sent after the owner stated cause and fix, with the chosen text', async () => {
    const process = await place.begin()
    await place.portreeve.tend()
    expect(await stepNow(process)).toMatchObject({ status: 'waiting', needs: 'confirm' })
    expect(place.sink.mails).toEqual([])
    const silent = await place.act(process, EMAIL, 'confirm', { cause: WORDS.cause })
    expect(silent).toMatchObject({
      status: 400,
      json: { code: 'invalid_request', details: [{ path: 'fix' }] },
    })
    const said = await place.act(process, EMAIL, 'confirm', {
      ...WORDS,
      text: 'Dear volunteers,\n\nthe hole is closed.',
    })
    expect(said.status).toBe(200)
    await place.portreeve.tend()
    expect(place.sink.mails.map(({ text }) => text?.trim())).toEqual([
      'Dear volunteers,\n\nthe hole is closed.',
    ])
    expect(await place.act(process, EMAIL, 'confirm', WORDS)).toMatchObject({
      status: 409,
      json: { code: 'conflict' },
    })
  })

  it('waits for confirmed reverse DNS, and is then sent automatically', async () => {
    place.dns.records['4.4.8.8.in-addr.arpa PTR'] = []
    const process = await place.begin(WORDS)
    await place.portreeve.tend()
    expect(await stepNow(process)).toMatchObject({
      needs: 'mend',
      nextStep: expect.stringContaining('has no reverse DNS'),
    })
    place.dns.records['4.4.8.8.in-addr.arpa PTR'] = ['other.alice.example']
    await place.portreeve.pass(1)
    expect((await stepNow(process)).nextStep).toContain(
      'other.alice.example, which does not resolve back',
    )
    place.dns.behaviours['4.4.8.8.in-addr.arpa PTR'] = 'SERVFAIL'
    await place.portreeve.pass(1)
    expect(await stepNow(process)).toMatchObject({
      needs: null,
      nextStep: expect.stringContaining('could not be resolved'),
    })
    expect(place.sink.mails).toEqual([])
    delete place.dns.behaviours['4.4.8.8.in-addr.arpa PTR']
    place.dns.records['4.4.8.8.in-addr.arpa PTR'] = ['mail.alice.example']
    await place.portreeve.pass(1)
    expect(await stepNow(process)).toMatchObject({ status: 'email-sent' })
  })

  it('waits for a word about the open relay that the list names', async () => {
    await place.list({ [EMAIL]: '127.0.0.2 This is an open relay' })
    const process = await place.begin(WORDS)
    await place.portreeve.tend()
    expect(await stepNow(process)).toMatchObject({
      needs: 'confirm',
      nextStep: expect.stringContaining('reports an open relay'),
    })
    await place.act(process, EMAIL, 'confirm')
    await place.portreeve.tend()
    expect(place.sink.mails.length).toBe(1)
  })

  it('is retried unchanged when the relay is busy', async () => {
    place.sink.behaviour = 'busy'
    const process = await place.begin(WORDS)
    await place.portreeve.tend()
    expect(await stepNow(process)).toMatchObject({ status: 'running', request: { state: 'none' } })
    place.sink.behaviour = 'taking'
    await place.portreeve.pass(1 / 12)
    const step = await stepNow(process)
    expect(step).toMatchObject({ status: 'email-sent' })
    expect(place.sink.mails.map(({ messageId }) => messageId)).toEqual([step.request?.messageId])
  })

  it('fails when the relay rejects it permanently, and can be retried', async () => {
    place.sink.behaviour = 'refusing'
    const process = await place.begin(WORDS)
    await place.portreeve.tend()
    expect(await place.read(process.id)).toMatchObject({ status: 'failed' })
    expect(await stepNow(process)).toMatchObject({ status: 'failed', outcome: 'undelivered' })
    place.sink.behaviour = 'taking'
    expect((await place.act(process, EMAIL, 'retry')).status).toBe(200)
    await place.portreeve.tend()
    expect(await stepNow(process)).toMatchObject({ status: 'email-sent', attempt: 2 })
    expect(await place.read(process.id)).toMatchObject({ status: 'in-progress' })
  })

  it('is not sent again when the relay may have accepted it', async () => {
    place.sink.behaviour = 'hanging up'
    const process = await place.begin(WORDS)
    await place.portreeve.tend()
    const step = await stepNow(process)
    expect(step).toMatchObject({ status: 'email-sent', request: { state: 'unsure' } })
    place.sink.behaviour = 'taking'
    await place.portreeve.pass(48)
    expect(place.sink.mails.length).toBe(1)
    expect((await stepNow(process)).nextStep).toContain(
      'It counts as sent, so that it is not sent twice',
    )
  })

  it('is not sent again by the next instance when the one that sent it was killed', async () => {
    place.sink.behaviour = 'silent'
    const process = await place.begin(WORDS)
    const { lists, dns, fresh, sink, clock } = place
    const args = [
      fresh.url,
      String(lists.port),
      String(dns.port),
      sink.url,
      clock.now.toISOString(),
    ]
    const child = spawn(globalThis.process.execPath, ['test/delisting/child.ts', ...args], {
      stdio: 'inherit',
    })
    await expect.poll(() => sink.mails.length, { timeout: 60_000 }).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await once(child, 'exit')
    sink.behaviour = 'taking'
    await place.portreeve.pass(0.1)
    expect(await stepNow(process)).toMatchObject({
      status: 'running',
      request: { state: 'claimed' },
    })
    await place.portreeve.pass(0.1)
    expect(await stepNow(process)).toMatchObject({
      status: 'email-sent',
      request: { state: 'unsure' },
    })
    await place.portreeve.pass(48)
    expect(sink.mails.length).toBe(1)
    await place.list({ [EMAIL]: {} })
    await place.portreeve.pass(25)
    expect(await place.read(process.id)).toMatchObject({ status: 'completed' })
  }, 120_000)

  it('is offered to be sent by hand where the owner’s address is not proven to be the owner’s', async () => {
    await place.fresh.db.updateTable('account').set({ emailVerified: false }).execute()
    await place.list({ [EMAIL]: '127.0.0.2' })
    const process = await place.begin(WORDS)
    await place.portreeve.tend()
    expect(place.sink.mails.length).toBe(0)
    expect(stepOf(await place.read(process.id), EMAIL)).toMatchObject({
      status: 'waiting',
      needs: 'send',
    })
  })

  it('is offered to be sent by hand where there is no relay', async () => {
    const { pool } = place.portreeve
    const process = await place.begin(WORDS)
    const bare = await place.another({ relay: false })
    await bare.tend()
    const step = await stepNow(process)
    expect(step).toMatchObject({ status: 'waiting', needs: 'send' })
    expect(step.nextStep).toContain('Send the text to delist@nordspam.com')
    expect(step.request?.text).toContain(WORDS.fix)
    expect((await place.act(process, EMAIL, 'submitted')).status).toBe(200)
    await place.portreeve.pass(48)
    expect(place.sink.mails).toEqual([])
    expect((await pool.query('select state, recipient from delisting_request')).rows).toEqual([
      { state: 'made', recipient: null },
    ])
  })

  it('is sent by hand where the address stands on the page of the list', async () => {
    await place.list({ [EMAIL]: {}, 'bl.suomispam.net': '127.0.0.2' })
    const process = await place.begin(WORDS)
    await place.portreeve.tend()
    expect(stepOf(await place.read(process.id), 'bl.suomispam.net')).toMatchObject({
      needs: 'send',
      nextStep: expect.stringContaining('email address on https://suomispam.net/'),
    })
  })

  it('goes to one blocklist about one address at most once a week, over all processes', async () => {
    const first = await place.begin(WORDS)
    await place.portreeve.tend()
    await place.act(first, EMAIL, 'cancel')
    const second = await place.begin(WORDS)
    await place.portreeve.pass(6 * 24)
    expect(await stepNow(second)).toMatchObject({
      status: 'waiting',
      needs: null,
      nextStep: expect.stringContaining('2026-11-28'),
    })
    expect(place.sink.mails.length).toBe(1)
    await place.portreeve.pass(25)
    expect(place.sink.mails.length).toBe(2)
  })

  it('reaches an operator at most five times a day from one account, so that others have their share', async () => {
    const ips = Array.from({ length: 7 }, (_, index) => `9.9.9.${index + 10}`)
    const listed = Object.fromEntries([...ips, '9.9.9.20'].map((ip) => [ip, '127.0.0.2']))
    await place.list({ [EMAIL]: { listed } })
    for (const ip of [...ips, '9.9.9.20']) {
      place.dns.records[`${ip.split('.').toReversed().join('.')}.in-addr.arpa PTR`] = [
        'mail.alice.example',
      ]
    }
    place.dns.records['mail.alice.example A'] = [...ips, '9.9.9.20']
    for (const ip of ips) await place.begin({ ...WORDS, ip })
    await place.portreeve.tend()
    expect(place.sink.mails.length).toBe(5)
    await place.begin({ ...WORDS, ip: '9.9.9.20' }, await place.portreeve.addPerson('Bob'))
    await place.portreeve.tend()
    expect(place.sink.mails.length).toBe(6)
    await place.portreeve.pass(23)
    expect(place.sink.mails.length).toBe(6)
    await place.portreeve.pass(8)
    expect(place.sink.mails.length).toBe(8)
  })
})
