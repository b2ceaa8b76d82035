import { expect, it } from 'vitest'
import { findInProgress, type Work } from '../../web/src/overview/find-in-progress.ts'

const migration = (status: string) =>
  ({ migrationId: status, status }) as Work['migrations'][number]
const delisting = (needs: string | null) =>
  ({ id: 'c', status: 'in-progress', steps: [{ needs }] }) as Work['cases'][number]

it('lists running migrations and delistings without open steps as in progress', () => {
  const [running, done] = [migration('running'), migration('completed')]
  const [goesOn, waits] = [delisting(null), delisting('confirm')]
  expect(findInProgress({ migrations: [running, done], cases: [goesOn, waits] })).toEqual({
    migrations: [running],
    cases: [goesOn],
  })
})
