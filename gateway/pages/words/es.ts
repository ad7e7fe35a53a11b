import type { Words } from './en.ts';

export const es: Words = {
  languageName: 'Español',
  unsubscribe: 'Darse de baja',
  unsubscribeQuestion: '¿Quiere dejar de recibir estos correos?',
  unsubscribeListQuestion: '¿Quiere dejar de recibir los correos de «{list}»?',
  unsubscribeAllQuestion:
    '¿Quiere dejar de recibir todos los boletines y ofertas de este remitente?',
  unsubscribeButton: 'Darme de baja',
  unsubscribed: 'Se ha dado de baja',
  unsubscribedText: 'Ya no recibirá estos correos. Puede cerrar esta página.',
  unsubscribedAllText:
    'Ya no recibirá boletines ni ofertas de este remitente. Puede cerrar esta página.',
  managePreferences: 'Cambiar todas mis preferencias',
  confirm: 'Confirme su suscripción',
  confirmQuestion: '¿Quiere recibir los correos de «{list}»?',
  confirmButton: 'Sí, suscribirme',
  confirmed: 'Está suscrito',
  confirmedText:
    'Gracias. A partir de ahora recibirá los correos; puede darse de baja cuando quiera.',
  expired: 'Este enlace ha caducado',
  expiredText:
    'La confirmación ha llegado tarde. Rellene el formulario otra vez para recibir un correo nuevo.',
  preferences: 'Sus preferencias de correo',
  lists: '¿Qué correos quiere recibir?',
  noLists: 'No hay nada que elegir.',
  pending: 'pendiente de su confirmación',
  blocked: 'no se puede entregar en su dirección',
  language: 'Idioma',
  timezone: 'Zona horaria',
  notSet: 'sin indicar',
  save: 'Guardar',
  saved: 'Sus cambios se han guardado.',
  leaveAll: 'Darme de baja de todo',
  leftAll: 'Se ha dado de baja de todo.',
  subscribed: 'Gracias',
  subscribedText:
    'Si es la primera vez que se suscribe, recibirá un correo para confirmar su dirección.',
  proof: 'Un paso más',
  proofText:
    'Pulse el botón. Su navegador hace entonces un pequeño cálculo, que muestra que ningún robot ha rellenado el formulario.',
  proofButton: 'Suscribirse',
  proofScript:
    'Este paso necesita JavaScript. Permítalo en esta página y rellene de nuevo el formulario.',
  badForm: 'No se pudo enviar el formulario',
  badFormText: 'Vuelva atrás y compruebe su dirección de correo.',
  badLink: 'Este enlace no funciona',
  badLinkText: 'Puede que esté cortado. Abra de nuevo el enlace completo del correo.',
  tryLater: 'Inténtelo de nuevo',
  tryLaterText: 'No ha sido posible ahora mismo. Inténtelo de nuevo en un minuto.',
  tryAgain: 'Intentar de nuevo',
  mailGone: 'Este correo ya no se conserva',
  mailGoneText:
    'El remitente conserva los correos solo durante un tiempo limitado. Puede seguir leyéndolo en su buzón.',
  previewLink: 'Esto es una vista previa',
  previewLinkText: 'En el correo, este enlace abre el correo en el navegador.',
};
