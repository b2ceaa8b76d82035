import type { ReceivedMail } from '../../net/smtp-server.ts'

/** An address of this service that receives mail, but no reports. */
export type OtherRecipient = {
  /** Whether it gets the transcript of the SMTP session with a mail. */
  wantsTranscript: boolean
  /** Stores a mail. @throws an SMTP reply when it takes none */
  receive(mail: Omit<ReceivedMail<never>, 'recipients'>): Promise<void>
}

/** Receives other mail that arrives where reports do: by SMTP, or in a report mailbox. */
export type OtherMail = {
  /**
   * Finds the recipient of an address; null for every other address.
   * @throws an SMTP reply when it takes no further mail
   */
  findRecipient(address: string): Promise<OtherRecipient | null>
  /** Stores a message of a workspace’s mailbox, if it is for it. @returns whether it was */
  pickUp(workspaceId: string, bytes: Buffer): Promise<boolean>
}
