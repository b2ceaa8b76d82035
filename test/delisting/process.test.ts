import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { raiseAlert } from '../../src/alerts/raise.ts'
import { IP } from '../servers/blacklists.ts'
import { AUTOMATIC, EMAIL, FORM, PROVIDER, startPlace, stepOf, type Place } from './place.ts'
import { ZONES } from './module.ts'

const WORDS = {
  cause: 'A guessed password sent spam.',
  fix: 'Password changed on 20 November 2026.',
}

let place: Place
beforeAll(async () => void (place = await startPlace()))
beforeEach(() => place.reset())
afterAll(() => place.stop())

describe('a delisting', () => {
  it('has a step for each list that lists the address, and the way out of each', async () => {
    await place.list({
      [AUTOMATIC]: '127.0.0.2 Blocked - see spamcop.net',
      [EMAIL]: '127.0.0.2',
      [FORM]: '127.0.0.2',
      [PROVIDER]: '127.0.0.2',
      'tor.dan.me.uk': '127.0.0.2',
    })
    const process = await place.begin()
    expect(process).toMatchObject({
      ip: IP,
      status: 'pending',
      totalListings: 4,
      stepsCompleted: 0,
      stepsRunning: 0,
    })
    const methods = Object.fromEntries(process.steps.map(({ dnsbl, method }) => [dnsbl, method]))
    expect(methods).toEqual({
      [AUTOMATIC]: 'automatic',
      [EMAIL]: 'email',
      [FORM]: 'form',
      [PROVIDER]: 'provider',
    })
    expect(process.steps.map(({ status }) => status)).toEqual(Array(4).fill('pending'))
    expect(stepOf(process, AUTOMATIC)).toMatchObject({
      blacklistName: 'SpamCop SCBL',
      firstAnswer: { status: 'listed', codes: ['127.0.0.2'], reason: 'Blocked - see spamcop.net' },
    })
    expect(process.notPursued).toEqual([expect.objectContaining({ dnsbl: 'tor.dan.me.uk' })])
  })

  it('does not start when most blocklists gave no answer, and reports their number and the other answers', async () => {
    const refusing = Object.fromEntries(
      ZONES.map((zone) => [zone, { behaviour: 'refusing' as const }]),
    )
    const said = async (answering: Parameters<Place['list']>[0]) => {
      await place.list({ ...refusing, ...answering })
      const { status, json } = await place.portreeve.call(place.alice, 'POST', '', { ip: IP })
      return `${status} ${json.error}`
    }
    const [all, most] = [ZONES.length, ZONES.length - 1]
    expect(await said({ 'tor.dan.me.uk': '127.0.0.2' })).toBe(
      `502 ${most} of ${all} lists gave no usable answer about ${IP}, and the others with a listing are informational: dan.me.uk Tor. Check DNSBL_SERVERS.`,
    )
    expect(await said({ 'tor.dan.me.uk': {} })).toBe(
      `502 ${most} of ${all} lists gave no usable answer about ${IP}, and the others do not list it. Check DNSBL_SERVERS.`,
    )
    expect(await said({})).toBe(
      `502 None of ${all} lists gave a usable answer about ${IP}. Check DNSBL_SERVERS.`,
    )
  })

  it('completes as the lists remove the address', async () => {
    await place.list({
      [AUTOMATIC]: '127.0.0.2',
      [EMAIL]: '127.0.0.2 Spam seen',
      [FORM]: '127.0.0.2',
    })
    const { id } = await place.begin(WORDS)
    await place.portreeve.tend()
    let process = await place.read(id)
    expect(process).toMatchObject({ status: 'in-progress', reverseDns: { status: 'confirmed' } })
    expect(stepOf(process, AUTOMATIC)).toMatchObject({ status: 'waiting', needs: null })
    expect(stepOf(process, EMAIL)).toMatchObject({
      status: 'email-sent',
      request: { state: 'made', reply: '250 taken as 42' },
    })
    expect(stepOf(process, FORM)).toMatchObject({ status: 'waiting', needs: 'submit' })
    expect(place.portreeve.alerts.map(({ kind }) => kind)).toEqual(['delisting.needs-you'])

    expect((await place.act(process, FORM, 'submitted')).status).toBe(200)
    await place.list({ [AUTOMATIC]: {} })
    await place.portreeve.pass(26)
    process = await place.read(id)
    expect(process).toMatchObject({ status: 'in-progress', stepsCompleted: 1 })
    expect(stepOf(process, AUTOMATIC)).toMatchObject({
      status: 'completed',
      outcome: 'cleared',
      lastAnswer: { status: 'clean' },
    })
    expect(stepOf(process, EMAIL)).toMatchObject({ status: 'waiting' })

    await place.list({ [EMAIL]: {}, [FORM]: {} })
    await place.portreeve.pass(26)
    expect(await place.read(id)).toMatchObject({ status: 'completed', stepsCompleted: 3 })
    expect(place.sink.mails.length).toBe(1)
    expect(place.portreeve.alerts.map(({ kind }) => kind)).toEqual([
      'delisting.needs-you',
      'delisting.completed',
    ])
  })

  it('fails when the deadline of a blocklist has passed, and names the remaining options', async () => {
    await place.list({ [AUTOMATIC]: '127.0.0.2', 'bl.blocklist.de': '127.0.0.15' })
    const { id } = await place.begin()
    await place.portreeve.pass(1)
    await place.list({ 'bl.blocklist.de': {} })
    await place.portreeve.pass(71)
    expect(await place.read(id)).toMatchObject({ status: 'failed', stepsCompleted: 1 })
    const process = await place.read(id)
    expect(stepOf(process, AUTOMATIC)).toMatchObject({
      status: 'failed',
      outcome: 'still-listed',
      nextCheckAt: null,
    })
    expect(place.portreeve.alerts).toEqual([
      expect.objectContaining({
        kind: 'delisting.failed',
        title: `${IP} is still on 1 blocklist`,
        path: `/delisting/${id}`,
        nextStep: expect.stringContaining('SpamCop SCBL still lists the address'),
      }),
    ])
  })

  it('never treats an unreachable blocklist as one that removed the address', async () => {
    await place.list({ [AUTOMATIC]: '127.0.0.2' })
    const { id } = await place.begin()
    await place.portreeve.pass(11.5)
    for (const behaviour of ['silent', 'refusing', 'expired', 'parked'] as const) {
      await place.list({ [AUTOMATIC]: { behaviour } })
      await place.portreeve.pass(0.5)
      expect(stepOf(await place.read(id), AUTOMATIC)).toMatchObject({
        status: 'waiting',
        lastAnswer: { status: 'unknown' },
      })
    }
  })

  it('completes a list only after two clean answers a quarter of an hour apart', async () => {
    await place.list({ [AUTOMATIC]: '127.0.0.2' })
    const { id } = await place.begin()
    await place.portreeve.tend()
    await place.list({ [AUTOMATIC]: {} })
    await place.portreeve.pass(12)
    const first = stepOf(await place.read(id), AUTOMATIC)
    expect(first).toMatchObject({ status: 'waiting', lastAnswer: { status: 'clean' } })
    await place.portreeve.pass(0.25)
    expect(stepOf(await place.read(id), AUTOMATIC)).toMatchObject({ status: 'completed' })
    const texts = (await place.read(id)).events.map(({ text }) => text)
    expect(texts).toEqual([
      'Started.',
      'Not listed. A second check will confirm this.',
      'Delisted.',
    ])
  })

  it('clears copied lists through their sources, and names the network’s owner where only the owner can act', async () => {
    await place.list({
      'zen.spamhaus.org': ['127.0.0.4', '127.0.0.2'].join(' '),
      'xbl.spamhaus.org': '127.0.0.4',
      'sbl.spamhaus.org': '127.0.0.2',
      'dnsbl.justspam.org': '127.0.0.2',
    })
    const { id } = await place.begin(WORDS)
    await place.portreeve.tend()
    const process = await place.read(id)
    expect(process.steps.map(({ dnsbl }) => dnsbl)).toEqual([
      'sbl.spamhaus.org',
      'xbl.spamhaus.org',
      'zen.spamhaus.org',
      'dnsbl.justspam.org',
    ])
    expect(process.steps.map(({ method }) => method)).toEqual([
      'provider',
      'form',
      'automatic',
      'form',
    ])
    expect(stepOf(process, 'zen.spamhaus.org').nextStep).toContain(
      'Repeats the entries of sbl.spamhaus.org, xbl.spamhaus.org',
    )
    expect(stepOf(process, 'dnsbl.justspam.org')).toMatchObject({ status: 'waiting', needs: null })
    await place.list({ 'zen.spamhaus.org': {}, 'xbl.spamhaus.org': {}, 'sbl.spamhaus.org': {} })
    await place.portreeve.pass(49)
    expect(stepOf(await place.read(id), 'dnsbl.justspam.org')).toMatchObject({
      status: 'waiting',
      needs: 'submit',
    })
  })

  it('needs the network’s owner where ZEN’s answer means the SBL', async () => {
    await place.list({ 'zen.spamhaus.org': '127.0.0.2' })
    expect(stepOf(await place.begin(), 'zen.spamhaus.org').method).toBe('provider')
  })

  it('is linked to the recent one that cleared the same address', async () => {
    await place.list({ [AUTOMATIC]: '127.0.0.2' })
    const first = await place.begin()
    await place.portreeve.tend()
    await place.list({ [AUTOMATIC]: {} })
    await place.portreeve.pass(24)
    await place.list({ [AUTOMATIC]: '127.0.0.2' })
    expect((await place.begin()).relistedAfter).toBe(first.id)
  })

  it('continues after a restart', async () => {
    await place.list({ [AUTOMATIC]: '127.0.0.2', [FORM]: '127.0.0.2' })
    const process = await place.begin()
    await place.portreeve.tend()
    await place.act(process, FORM, 'submitted')
    const second = await place.another()
    await place.list({ [AUTOMATIC]: {}, [FORM]: {} })
    await second.pass(24)
    expect(await place.read(process.id)).toMatchObject({ status: 'completed', stepsCompleted: 2 })
    expect([...place.portreeve.alerts, ...second.alerts].map(({ kind }) => kind)).toEqual([
      'delisting.needs-you',
      'delisting.completed',
    ])
  })

  it('shows the owner of a network the facts needed for the request', async () => {
    await place.list({ [PROVIDER]: '127.0.0.2 Your provider is infested' })
    const process = await place.begin()
    await place.portreeve.tend()
    const step = stepOf(await place.read(process.id), PROVIDER)
    expect(step.nextStep).toContain(
      'The entry covers a whole range, so only its owner can request removal. Forward the text',
    )
    for (const part of [
      IP,
      'UCEPROTECT Level 2',
      'Your provider is infested',
      'alice@people.test',
      String(step.url),
    ]) {
      expect(step.request?.text).toContain(part)
    }
    expect(await place.act(process, PROVIDER, 'submitted')).toMatchObject({ status: 409 })
  })

  it('raises its alerts in the transaction of the change, each once', async () => {
    await place.list({ [FORM]: '127.0.0.2' })
    const { id } = await place.begin()
    const instances = await Promise.all([1, 2].map(() => place.another({ raiseAlert })))
    await Promise.all(instances.map((portreeve) => portreeve.tend()))
    await place.list({ [FORM]: {} })
    for (const portreeve of instances) await portreeve.pass(8)
    expect(await place.read(id)).toMatchObject({ status: 'completed' })
    const { rows } = await place.portreeve.pool.query<{ kind: string }>(
      'select kind from alert order by at',
    )
    expect(rows.map(({ kind }) => kind)).toEqual(['delisting.needs-you', 'delisting.completed'])
  })

  it('is processed by one of several concurrent workers', async () => {
    await place.list({ [AUTOMATIC]: '127.0.0.2', [EMAIL]: '127.0.0.2' })
    const { id } = await place.begin(WORDS)
    const instances = [place.portreeve, await place.another(), await place.another()]
    await Promise.all(instances.map((portreeve) => portreeve.tend()))
    // A step waits for its next turn when DNS was too slow on a busy machine.
    await place.portreeve.pass(1)
    expect(stepOf(await place.read(id), EMAIL)).toMatchObject({ status: 'email-sent' })
    expect(place.sink.mails.length).toBe(1)
  })
})
