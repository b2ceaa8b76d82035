import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMailPlace, type MailPlace } from './mail-place.ts'
import { makeTools, type Ids } from './screen-data.ts'
import { TOOLS } from './screens.ts'
import { faultsOf, isDelayed, startWalk, type Walker } from './walk.ts'

let place: MailPlace
let walker: Walker
let ids: Ids
beforeAll(async () => {
  place = await startMailPlace()
  const alice = await place.portreeve.addPerson('Alice', { plan: 'pro', admin: true })
  ids = await makeTools(place.portreeve, alice)
  walker = await startWalk(place.browser, place.portreeve, alice)
})
afterAll(() => place.stop())

describe('for an account with data, at every width, in both themes', () => {
  it.each(TOOLS)('$at has no faults', async (screen) =>
    expect(await faultsOf(walker, screen, ids)).toEqual([]),
  )

  it('answers reached the pages late', async () => {
    expect(await Promise.all([walker.phone, walker.desktop].map(isDelayed))).toEqual([true, true])
  })
})
