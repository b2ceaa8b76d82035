import { describe, expect, it } from 'vitest'
import { describeDetails } from '../../web/src/administration/messages.ts'

describe('what was given with an act', () => {
  it('names the account it was about in place of an id', () => {
    expect(describeDetails({ plan: 'pro', id: '0199', account: 'bob@example.com', admin: true })).toEqual([
      ['account', 'bob@example.com'],
      ['plan', 'pro'],
      ['admin', 'yes'],
    ])
  })
  it('has the id of what has no name, and lists as they are', () => {
    expect(describeDetails({ id: '0199', cidrs: ['192.0.2.0/24'] })).toEqual([
      ['id', '0199'],
      ['cidrs', '["192.0.2.0/24"]'],
    ])
  })
})
