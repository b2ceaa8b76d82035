declare module 'mimemessage' {
  export type Entity = { header(name: string, value: string): void; toString(): string }
  export function factory(data: {
    contentType: string
    contentTransferEncoding?: string
    body: string | Entity[]
  }): Entity
}

declare module 'sendmail' {
  type Mail = {
    from: string
    to: string
    subject: string
    text: string
    html?: string
    headers?: Record<string, string>
    attachments?: { filename: string; contentType: string; content: Buffer }[]
  }
  /** Sends to `devHost` in place of the hosts of the MX records. */
  export default function createSendmail(options: {
    silent: boolean
    devPort: number
    devHost: string
    dkim: { privateKey: string; keySelector: string }
  }): (mail: Mail, done: (error: Error | null) => void) => void
}
