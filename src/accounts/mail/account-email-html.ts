import { emailButton, emailPage, emailParagraph } from '../../http/email-page.ts'
import { markup, type Html } from '../../http/markup.ts'

/**
 * Renders the text of an email about an account as HTML: its subject as the title, and a button in
 * place of each line that is a link.
 */
export function renderAccountHtml({ subject, text }: { subject: string; text: string }): string {
  const paragraphs = text.trim().split(/\n{2,}/)
  return emailPage(
    subject,
    markup`<h1 style="margin:0 0 12px;font-size:18px;line-height:24px;">${subject}</h1>
${paragraphs.map(renderParagraph)}`,
  )
}

function renderParagraph(text: string): Html {
  const lines = text.split('\n')
  const link = lines.find((line) => /^https?:\/\/\S+$/.test(line))
  const words = lines.filter((line) => line !== link).join('\n')
  return markup`${words ? emailParagraph(words) : null}${link ? emailButton(link, 'Open') : null}`
}
