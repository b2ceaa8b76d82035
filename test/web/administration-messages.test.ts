import { describe, expect, it } from 'vitest'
import { describeDetails } from '../../web/src/administration/messages.ts'

describe('the details of an audit entry', () => {
  it('name the changed account in place of an id', () => {
    expect(
      describeDetails({ plan: 'pro', id: '0199', account: 'bob@example.com', admin: true }),
    ).toEqual([
      ['account', 'bob@example.com'],
      ['plan', 'pro'],
      ['admin', 'yes'],
    ])
  })
  it('show the id of an object without a name, and lists as JSON', () => {
    expect(describeDetails({ id: '0199', cidrs: ['192.0.2.0/24'] })).toEqual([
      ['id', '0199'],
      ['cidrs', '["192.0.2.0/24"]'],
    ])
  })
})
