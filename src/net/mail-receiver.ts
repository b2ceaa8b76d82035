import type { ReceivedMail } from './smtp-server.ts'

/** A mail as its client delivered it, without its recipients. */
export type DeliveredMail = Omit<ReceivedMail<never>, 'recipients'>

/** An address of this service that receives mail, but no reports. */
export type MailRecipient = {
  /** Whether it gets the transcript of the SMTP session with a mail. */
  wantsTranscript?: true
  /** Returns once the mail is stored. @throws an SMTP reply when it takes none */
  receive(mail: DeliveredMail): Promise<void>
}

/** Receives other mail that arrives where reports do: by SMTP, or in a report mailbox. */
export type MailReceiver = {
  /**
   * Finds the recipient of an address; null for every other address.
   * @throws an SMTP reply when it takes no further mail
   */
  findRecipient(address: string): Promise<MailRecipient | null>
  /** Stores a message of a workspace’s mailbox, if it is for it. @returns whether it was */
  pickUp?(workspaceId: string, bytes: Buffer): Promise<boolean>
}
