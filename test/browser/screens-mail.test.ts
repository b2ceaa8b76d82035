import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IP } from '../servers/blacklists.ts'
import type { Person } from '../service.ts'
import { startMailPlace, type MailPlace } from './mail-place.ts'
import { makeMail, type Ids } from './screen-data.ts'
import { MAIL, PUBLIC } from './screens.ts'
import { faultsOf, isDelayed, startWalk, type Walker } from './walk.ts'

let place: MailPlace
let alice: Person
let ids: Ids
beforeAll(async () => {
  place = await startMailPlace()
  await place.lists.setZones({ 'bl.spamcop.net': { listed: { [IP]: '127.0.0.2' } } })
  alice = await place.portreeve.addPerson('Alice', { plan: 'pro', admin: true })
  ids = await makeMail(place.portreeve, alice)
})
afterAll(() => place.stop())

describe.each([
  { who: 'a visitor', screens: PUBLIC, isSignedIn: false },
  { who: 'an account with data', screens: MAIL, isSignedIn: true },
])('for $who, at every width, in both themes', ({ screens, isSignedIn }) => {
  let walker: Walker
  beforeAll(async () => {
    walker = await startWalk(place.browser, place.portreeve, isSignedIn ? alice : undefined)
  })
  afterAll(() => walker.close())

  it.each(screens)('$at has no faults', async (screen) =>
    expect(await faultsOf(walker, screen, ids)).toEqual([]),
  )

  it('answers reached the pages late', async () => {
    expect(await Promise.all([walker.phone, walker.desktop].map(isDelayed))).toEqual([true, true])
  })
})
