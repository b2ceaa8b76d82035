import { createMessage } from '@upyo/core'
import { SmtpTransport } from '@upyo/smtp'
import { SMTPClient as EmailJsClient } from 'emailjs'
import { factory, type Entity } from 'mimemessage'
import { createTransport } from 'nodemailer'
import createSendmail from 'sendmail'
import { SMTPClient } from 'smtp-client'

/** A mail as an application gives it to its mailer. */
export type AppMail = {
  from: { name: string; address: string }
  to: string
  subject: string
  text: string
  html?: string
  attachment?: { filename: string; type: string; content: Buffer }
  headers?: Record<string, string>
}

/** Hands a mail to the SMTP server at a port of this machine. */
export type Mailer = (mail: AppMail, port: number) => Promise<void>

const nameAndAddress = ({ name, address }: AppMail['from']) => `"${name}" <${address}>`

const nodemailer: Mailer = async ({ attachment, ...mail }, port) => {
  const transport = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true })
  await transport.sendMail({
    ...mail,
    ...(attachment && {
      attachments: [{ ...attachment, contentType: attachment.type }],
    }),
  })
}

const emailjs: Mailer = async ({ from, html, attachment, headers, ...mail }, port) => {
  const client = new EmailJsClient({ host: '127.0.0.1', port, ssl: false, tls: false })
  await client.sendAsync({
    ...mail,
    ...headers,
    from: nameAndAddress(from),
    attachment: [
      ...(html === undefined ? [] : [{ data: html, alternative: true }]),
      ...(attachment
        ? [
            {
              name: attachment.filename,
              type: attachment.type,
              data: attachment.content.toString('base64'),
              encoded: true,
            },
          ]
        : []),
    ],
  })
  client.smtp.close()
}

const upyo: Mailer = async ({ html, text, attachment, ...mail }, port) => {
  const transport = new SmtpTransport({ host: '127.0.0.1', port, secure: false, pool: false })
  const message = createMessage({
    ...mail,
    from: mail.from as { name: string; address: `${string}@${string}` },
    content: html === undefined ? { text } : { text, html },
    ...(attachment && {
      attachments: [new File([attachment.content], attachment.filename, { type: attachment.type })],
    }),
  })
  const receipt = await transport.send(message)
  if (!receipt.successful) throw new Error(receipt.errorMessages.join(', '))
}

/** mimemessage only builds what it is given; smtp-client sends it. */
const smtpClient: Mailer = async (mail, port) => {
  const text = entity('text/plain;charset=utf-8', '8bit', mail.text)
  const { html, attachment } = mail
  const content =
    html === undefined
      ? text
      : factory({
          contentType: 'multipart/alternative',
          body: [text, entity('text/html;charset=utf-8', '8bit', html)],
        })
  const message = attachment
    ? factory({ contentType: 'multipart/mixed', body: [content, fileEntity(attachment)] })
    : content
  for (const [name, value] of Object.entries({
    From: nameAndAddress(mail.from),
    To: mail.to,
    Subject: mail.subject,
    ...mail.headers,
  }))
    message.header(name, value)
  const client = new SMTPClient({ host: '127.0.0.1', port })
  await client.connect()
  await client.greet()
  await client.mail({ from: mail.from.address })
  await client.rcpt({ to: mail.to })
  await client.data(message.toString())
  await client.quit()
}

function entity(contentType: string, contentTransferEncoding: string, body: string): Entity {
  return factory({ contentType, contentTransferEncoding, body })
}

function fileEntity({ type, content, filename }: NonNullable<AppMail['attachment']>): Entity {
  const file = entity(type, 'base64', content.toString('base64').replaceAll(/.{76}/g, '$&\r\n'))
  file.header('Content-Disposition', `attachment;filename="${filename}"`)
  return file
}

/**
 * sendmail takes the part of the mail server, too: it looks up the receiver, signs and sends without
 * one.
 */
export function directMailer(dkim: { privateKey: string; keySelector: string }): Mailer {
  return ({ from, attachment, ...mail }, port) => {
    const send = createSendmail({ silent: true, devPort: port, devHost: '127.0.0.1', dkim })
    const message = {
      ...mail,
      from: nameAndAddress(from),
      ...(attachment && { attachments: [{ ...attachment, contentType: attachment.type }] }),
    }
    return new Promise((resolve, reject) => {
      send(message, (error) => (error ? reject(error) : resolve()))
    })
  }
}

/** Mailers of npm that need a mail server, each with its own SMTP and MIME code. */
export const MAILERS = { nodemailer, emailjs, '@upyo/smtp': upyo, 'smtp-client': smtpClient }
