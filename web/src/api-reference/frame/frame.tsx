import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react'
import { inService } from '../../base-path.ts'
import { Icon } from '../../ui/brand/icons.tsx'
import { Logo } from '../../ui/brand/logo.tsx'
import { whenClosed } from '../../ui/layout/when-closed.ts'
import type { Reference } from '../document/reference.ts'
import { frame as messages } from '../messages.ts'
import classes from './frame.module.css'
import { Navigation } from './navigation.tsx'
import { ThemeSwitch } from './theme-switch.tsx'

type FrameProps = {
  /** Null while it loads. */
  reference: Reference | null
  /** Id of the operation that is shown. */
  current: string | null
  children: ReactNode
}

/** Name, way back, search and navigation: at the side, or behind a button on a phone. */
export function Frame({ reference, current, children }: FrameProps) {
  const sheet = useRef<HTMLDialogElement>(null)
  const [isBrowsing, setBrowsing] = useState(false)
  const close = () => sheet.current?.close()
  const browse = () => {
    setBrowsing(true)
    sheet.current?.showModal()
  }
  useSearchKey(browse)
  return (
    <div className={classes.frame}>
      <a className={classes.skip} href="#main" onClick={focusContent}>
        {messages.skip}
      </a>
      <header className={classes.header}>
        <a className={classes.back} href={inService('/')}>
          <Icon name="back" size={16} />
          {messages.dashboard}
        </a>
        <a className={classes.name} href="#">
          <Logo size={24} />
          <span>{messages.title}</span>
        </a>
        <button type="button" className={classes.browse} onClick={browse}>
          <Icon name="search" size={16} />
          {messages.browse}
        </button>
      </header>
      <div className={classes.side}>
        <Navigation reference={reference} current={current} />
        <Footer reference={reference} />
      </div>
      <main id="main" className={classes.main}>
        {children}
      </main>
      <dialog
        ref={sheet}
        className={classes.sheet}
        aria-label={messages.browseTitle}
        onClose={whenClosed(() => setBrowsing(false))}
      >
        {isBrowsing && (
          <div className={classes.sheetContent}>
            <button type="button" className={classes.close} onClick={close}>
              <Icon name="bad" size={18} />
              {messages.close}
            </button>
            <Navigation reference={reference} current={current} onGo={close} isSheet />
            <Footer reference={reference} />
          </div>
        )}
      </dialog>
    </div>
  )
}

function Footer({ reference }: { reference: Reference | null }) {
  return (
    <footer className={classes.footer}>
      <ThemeSwitch />
      <p>
        <span>{messages.version(reference?.version ?? '')}</span>
        <a href={inService('/openapi.json')}>{messages.document}</a>
      </p>
    </footer>
  )
}

function focusContent(event: { preventDefault: () => void }): void {
  // Following the link would replace the fragment, which names the operation.
  event.preventDefault()
  document.querySelector<HTMLElement>('main h1')?.focus()
}

/**
 * `/` moves to the search, as in the dashboard.
 * @param browse opens the search of a phone
 */
function useSearchKey(browse: () => void): void {
  const openSearch = useEffectEvent(() => {
    const field = [...document.querySelectorAll<HTMLElement>('input[type=search]')].find((each) =>
      each.checkVisibility(),
    )
    if (field) field.focus()
    else browse()
  })
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      openSearch()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}
