import { demo as messages } from './messages.ts'
import classes from './demo-banner.module.css'
import { inGuide } from './guide-page.ts'

/** Whether the service is a demo: its pages say so, so that nothing moves once that is known. */
export const isDemo = 'demo' in document.documentElement.dataset

/** Says over every screen of a demo that nothing can be changed. */
export function DemoBanner() {
  if (!isDemo) return null
  return (
    <aside className={classes.banner} aria-label={messages.label}>
      <span>
        {messages.text} <a href={inGuide('install.html')}>{messages.install}</a>
      </span>
    </aside>
  )
}
