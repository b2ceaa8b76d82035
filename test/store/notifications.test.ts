import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLog } from '../../src/log.ts'
import { notify, openNotifications, type Notifications } from '../../src/store/notifications.ts'
import { emptyDatabase, type FreshDatabase } from '../database.ts'

const log = createLog('silent')

describe('signals', () => {
  let fresh: FreshDatabase
  let notifications: Notifications

  beforeAll(async () => void (fresh = await emptyDatabase()))
  afterAll(() => fresh.drop())
  beforeEach(async () => void (notifications = await openNotifications(fresh.url, log)))
  afterEach(() => notifications.close())

  const breakConnection = () =>
    fresh.pool
      .query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'portreeve notifications'
      and datname = current_database()`)

  it('reach every instance, on their own channel only, until they are no longer wanted', async () => {
    const other = await openNotifications(fresh.url, log)
    const [here, there, elsewhere] = [vi.fn(), vi.fn(), vi.fn()]
    const end = notifications.on('migration', here)
    other.on('migration', there)
    other.on('listing', elsewhere)
    await notify(fresh.db, 'migration', { id: 'ünï' })
    await vi.waitFor(() => expect(there).toHaveBeenCalledExactlyOnceWith({ id: 'ünï' }))
    await vi.waitFor(() => expect(here).toHaveBeenCalledOnce())
    end()
    await notify(fresh.db, 'migration', null)
    await vi.waitFor(() => expect(there).toHaveBeenCalledTimes(2))
    expect(here).toHaveBeenCalledOnce()
    expect(elsewhere).not.toHaveBeenCalled()
    await other.close()
  })

  it('are sent when their transaction commits, and not when it does not', async () => {
    const heard = vi.fn()
    notifications.on('row', heard)
    const rolledBack = fresh.db.transaction().execute(async (trx) => {
      await notify(trx, 'row', 'never')
      throw new Error('no')
    })
    await expect(rolledBack).rejects.toThrow('no')
    await fresh.db.transaction().execute(async (trx) => {
      await notify(trx, 'row', 'committed')
      await sleep(100)
      expect(heard).not.toHaveBeenCalled()
    })
    await vi.waitFor(() => expect(heard).toHaveBeenCalledExactlyOnceWith('committed'))
  })

  it('resume after the connection broke, and report that some may have been missed', async () => {
    const [heard, reconnected] = [vi.fn(), vi.fn()]
    notifications.on('row', heard)
    notifications.onReconnect(reconnected)
    await breakConnection()
    await vi.waitFor(() => expect(reconnected).toHaveBeenCalledOnce(), 5_000)
    await notify(fresh.db, 'row', 1)
    await vi.waitFor(() => expect(heard).toHaveBeenCalledExactlyOnceWith(1))
  })

  it('reach the other handlers when one throws', async () => {
    const heard = vi.fn()
    notifications.on('row', () => {
      throw new Error('mine')
    })
    notifications.on('row', heard)
    await notify(fresh.db, 'row', 1)
    await vi.waitFor(() => expect(heard).toHaveBeenCalledOnce())
  })

  it('are rejected above the database’s limit, and accepted just below', async () => {
    const heard = vi.fn()
    notifications.on('row', heard)
    await notify(fresh.db, 'row', 'x'.repeat(7_980))
    await vi.waitFor(() => expect(heard).toHaveBeenCalledOnce())
    await expect(notify(fresh.db, 'row', 'x'.repeat(8_000))).rejects.toThrow('too long')
  })

  it('can be closed while the connection is broken', async () => {
    await breakConnection()
    await notifications.close()
  })
})
