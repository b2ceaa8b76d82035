import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nameOf } from '../../../src/abuse/peer-evidence/peer-names.ts'
import { connect, startInstallation, type Installation } from './installation.ts'

let here: Installation
let there: Installation
beforeAll(async () => {
  here = await startInstallation()
  there = await startInstallation()
}, 120_000)
afterAll(async () => {
  await here?.stop()
  await there?.stop()
})

const SEEN_BY_THREE = ['81.2.69.160', '90.1.1.1', '91.2.1.1']
const patience = { interval: 200 }

describe('two installations', () => {
  it('exchange evidence once both administrators approve', async () => {
    await here.report('8.8.3.2', ['88.198.1.1'])
    await connect(here, there)
    await there.report('8.8.3.1', SEEN_BY_THREE)
    await here.report('8.8.3.1', ['88.198.1.1'])
    const name = nameOf(there.url)
    await expect
      .poll(() => here.check('8.8.3.1'), patience)
      .toMatchObject({
        distinctReporters: 1,
        totalReports: 1,
        services: [{ service: 'ssh', count: 1 }],
        peers: [{ name, networks: 3, services: ['ssh'] }],
      })
    // What was reported before the peering is part of it.
    await expect
      .poll(() => there.check('8.8.3.2'), patience)
      .toMatchObject({
        distinctReporters: 0,
        totalReports: 0,
        peers: [{ name: nameOf(here.url), networks: 1 }],
      })
    const { score: alone } = await here.check('8.8.3.1')
    await here.report('8.8.3.3', ['88.198.1.1', '92.1.1.1'])
    expect(alone).toBeLessThanOrEqual((await here.check('8.8.3.3')).score)
    await expect.poll(() => here.peer(), patience).toMatchObject({ received: 3, sent: 4 })
  })

  it('never pass evidence of a peer on', async () => {
    const third = await startInstallation()
    try {
      await connect(here, third)
      await third.report('8.8.3.4', SEEN_BY_THREE)
      await there.report('8.8.3.5', SEEN_BY_THREE)
      for (const ip of ['8.8.3.4', '8.8.3.5'])
        await expect
          .poll(async () => (await here.check(ip)).peers, patience)
          .toMatchObject([{ networks: 3 }])
      await here.report('8.8.3.6', ['88.198.1.1'])
      await here.report('8.8.3.4', ['88.198.1.1'])
      for (const other of [there, third])
        await expect
          .poll(async () => (await other.check('8.8.3.6')).peers, patience)
          .toHaveLength(1)
      // Only the report that was made here.
      await expect
        .poll(async () => (await there.check('8.8.3.4')).peers, patience)
        .toEqual([expect.objectContaining({ networks: 1 })])
      expect((await third.check('8.8.3.5')).peers).toEqual([])
      const [, request] = (await here.peers()).toSorted((a) => (a.url === there.url ? -1 : 1))
      await here.end(request?.id ?? '')
    } finally {
      await third.stop()
    }
  })

  it('withdraw evidence after an appeal, also across a restart', async () => {
    await there.report('8.8.3.7', SEEN_BY_THREE)
    await expect.poll(async () => (await here.check('8.8.3.7')).peers, patience).toHaveLength(1)
    await here.service.pause()
    await there.acquit('8.8.3.7')
    await there.service.pause()
    await there.service.resume()
    await here.service.resume()
    await expect.poll(() => here.check('8.8.3.7'), patience).toMatchObject({ score: 0, peers: [] })
    // New evidence counts again, and the withdrawn one does not come back.
    await there.report('8.8.3.7', ['93.1.1.1'])
    await expect
      .poll(async () => (await here.check('8.8.3.7')).peers, patience)
      .toEqual([expect.objectContaining({ networks: 1 })])
  })

  it('let an appeal here discard what peers report, too', async () => {
    await there.report('8.8.3.8', SEEN_BY_THREE)
    await expect.poll(async () => (await here.check('8.8.3.8')).peers, patience).toHaveLength(1)
    await here.acquit('8.8.3.8')
    expect(await here.check('8.8.3.8')).toMatchObject({ score: 0, peers: [] })
    // Another page about the same address does not bring it back.
    await there.report('8.8.3.8', ['93.1.1.1'])
    await expect
      .poll(async () => (await here.check('8.8.3.8')).peers, patience)
      .toEqual([expect.objectContaining({ networks: 1 })])
  })

  it(
    'delete all evidence of the other when one ends the peering',
    { timeout: 60_000 },
    async () => {
      await here.end((await here.peer()).id)
      await expect.poll(() => here.peers(), patience).toEqual([])
      await expect.poll(() => there.peer(), patience).toMatchObject({ status: 'ended' })
      await expect.poll(async () => (await there.check('8.8.3.2')).peers, patience).toEqual([])
      expect((await here.check('8.8.3.1')).peers).toEqual([])
      expect(await here.count('federation_evidence')).toBe(0)
      expect(await there.count('federation_evidence')).toBe(0)
      // Addresses that only the peer knew are forgotten; the installation’s own reports are not.
      expect(await there.count("abuse_address where address = '8.8.3.2'")).toBe(0)
      expect(await there.check('8.8.3.1')).toMatchObject({ distinctReporters: 3 })
      const alerts = await there.alerts()
      expect(alerts.map(({ kind }) => kind)).toContain('federation.ended')
      // It can begin again with a new approval on both sides.
      const peer = await there.peer()
      await there.approve(peer.id, peer.fingerprint)
      await expect.poll(() => here.peer(), patience).toMatchObject({ status: 'requested' })
      await here.end((await here.peer()).id)
      await expect.poll(() => here.peer(), patience).toMatchObject({ status: 'declined' })
      await there.hurry()
      expect(await here.peer()).toMatchObject({ status: 'declined' })
    },
  )
})
