import { describe, expect, it } from 'vitest'
import {
  classifyRefusal,
  isTemporary,
  sanitise,
} from '../../../src/net/imap/connection/refusals.ts'

describe('the classification of a rejection', () => {
  it.each([
    [null, 'Request is throttled. Suggested Backoff Time: 299609 milliseconds', 'throttled'],
    ['THROTTLED', 'slow down', 'throttled'],
    ['LIMIT', 'enough for today', 'throttled'],
    ['LIMIT', 'Too many keywords in this mailbox', 'other'],
    ['INUSE', 'Mailbox in use', 'busy'],
    ['UNAVAILABLE', 'Temporary authentication failure', 'busy'],
    [
      'UNAVAILABLE',
      'Maximum number of connections from user+IP exceeded (mail_max_userip_connections=10)',
      'too_many_connections',
    ],
    ['ALERT', 'Too many simultaneous connections. (Failure)', 'too_many_connections'],
    ['OVERQUOTA', 'Quota exceeded (mailbox for user is full)', 'over_quota'],
    ['ALERT', 'You exceeded your mail quota.', 'over_quota'],
    ['TOOBIG', 'no', 'too_large'],
    [null, 'Message exceeds fixed maximum message size', 'too_large'],
    ['TRYCREATE', "Mailbox doesn't exist: x", 'no_such_mailbox'],
    ['AUTHENTICATIONFAILED', 'Authentication failed.', 'sign_in'],
    [null, 'Message contains NUL characters', 'other'],
  ])('[%s] %s: %s', (code, text, kind) => {
    expect(classifyRefusal('NO', code, text).kind).toBe(kind)
  })

  it('reads how long to wait', () => {
    const throttled = classifyRefusal(
      'BAD',
      null,
      'Request is throttled. Suggested Backoff Time: 299609 milliseconds',
    )
    expect([throttled.retryAfterMs, isTemporary(throttled)]).toEqual([299_609, true])
    expect(classifyRefusal('NO', 'THROTTLED', 'later').retryAfterMs).toBeNull()
  })

  it('repeats words on one line, without controls, not at length', () => {
    expect(sanitise('a\r\nb\u202e\u0007c')).toBe('a b c')
    expect(sanitise('x'.repeat(5000))).toHaveLength(300)
  })
})
