import { createLink } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import classes from './button.module.css'
import { Explained } from './explained.tsx'
import { Icon, type IconName } from '../brand/icons.tsx'

export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger'

type Size = 'small' | 'normal' | 'large'

type ButtonProps = {
  kind?: ButtonKind
  size?: Size
  icon?: IconName
  /** An action is in progress: the button stays in place and ignores clicks. */
  busy?: boolean
  disabled?: boolean
  /** Why the action is not available: disables the button, and is shown on focus and hover. */
  disabledReason?: string | undefined
  type?: 'button' | 'submit'
  /** Tells the submit buttons of a form apart. */
  name?: string
  onClick?: (() => void) | undefined
  children: ReactNode
}

export function Button({
  kind = 'plain',
  size = 'normal',
  icon,
  busy = false,
  disabled = false,
  type = 'button',
  name,
  disabledReason,
  onClick,
  children,
}: ButtonProps) {
  const content = <Content icon={icon}>{children}</Content>
  if (disabledReason) {
    return (
      <Explained reason={disabledReason}>
        {(described) => (
          <button type="button" {...looks(kind, size, icon)} {...described}>
            {content}
          </button>
        )}
      </Explained>
    )
  }
  return (
    <button
      type={type}
      name={name}
      {...looks(kind, size, icon)}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      onClick={() => onClick?.()}
    >
      {busy && <span className={classes.spinner} aria-hidden="true" />}
      {content}
    </button>
  )
}

/** A link that looks like a button, because it leads to the page's main action. */
export const ButtonLink = createLink(function ButtonLink({
  kind = 'plain',
  size = 'normal',
  icon,
  disabledReason,
  children,
  ...rest
}: ComponentProps<'a'> & Pick<ButtonProps, 'kind' | 'size' | 'icon' | 'disabledReason'>) {
  if (disabledReason)
    return (
      <Button kind={kind} size={size} disabledReason={disabledReason} {...(icon && { icon })}>
        {children}
      </Button>
    )
  return (
    <a {...rest} {...looks(kind, size, icon)}>
      <Content icon={icon}>{children}</Content>
    </a>
  )
})

/** A file to keep, from our own API. */
export function DownloadLink({
  href,
  name,
  children,
}: {
  href: string
  name?: string
  children: ReactNode
}) {
  return (
    <a href={href} download={name ?? true} {...looks('quiet', 'small', 'download')}>
      <Content icon="download">{children}</Content>
    </a>
  )
}

function Content({ icon, children }: { icon: IconName | undefined; children: ReactNode }) {
  return (
    <span className={classes.inner}>
      {icon && (
        <span className={classes.icon}>
          <Icon name={icon} size={16} />
        </span>
      )}
      <span className={classes.label}>{children}</span>
    </span>
  )
}

function looks(kind: ButtonKind, size: Size, icon: IconName | undefined) {
  return {
    className: classes.button,
    'data-kind': kind,
    'data-size': size,
    'data-icon': icon === undefined ? undefined : true,
  }
}
