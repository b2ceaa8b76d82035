/**
 * The actor of the owner of a mailbox in the audit log, who has no account. The user name of the
 * mailbox is no name of the actor: a member chose it.
 */
export const OWNER_ACTOR = 'owner of a mailbox'
