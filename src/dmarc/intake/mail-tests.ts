import type { ReceivedMail } from '../../net/smtp-server.ts'

/** A test address that receives mail. */
export type TestRecipient = { testId: string; address: string }

/** Receives the mails of tests that arrive where reports do: by SMTP, or in a report mailbox. */
export type MailTests = {
  /**
   * The test of an address; null for every other address.
   * @throws an SMTP reply when the test takes no further mail
   */
  findRecipient(address: string): Promise<TestRecipient | null>
  /** Stores a mail of a test. @throws an SMTP reply when it takes none */
  receive(test: TestRecipient, mail: Omit<ReceivedMail<never>, 'recipients'>): Promise<void>
  /** Stores a message of a workspace’s mailbox, if it is for a test. @returns whether it was */
  pickUp(workspaceId: string, bytes: Buffer): Promise<boolean>
}
