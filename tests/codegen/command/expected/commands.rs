fn nothing() {}
/// Declares the command `nothing`.
#[derive(Debug)]
#[allow(
    non_camel_case_types,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason
)]
enum nothing {}
impl ::runtime::extend::DeclaredCommand for nothing {
    const NAME: &'static str = "nothing";
    const DESCRIPTION: &'static str = "";
    const HIDDEN: bool = false;
    const SCOPES: &'static [&'static str] = &[];
    fn arguments() -> ::std::vec::Vec<::runtime::commands::Argument> {
        ::std::vec![]
    }
    async fn call(
        _: ::runtime::commands::Arguments,
    ) -> ::std::result::Result<
        ::runtime::extend::Value,
        ::runtime::commands::CommandError,
    > {
        ::runtime::extend::written(::runtime::extend::blocking(move || nothing()).await)
    }
}

/// Say hello to somebody,
/// by name.
///
/// What follows is for readers of the code.
pub(crate) async fn hello(
    name: String,
    times: Option<i64>,
    r#loud: bool,
) -> Result<String, CommandError> {
    greet(name, times, loud).await
}
/// Declares the command `say-hello`.
#[derive(Debug)]
#[allow(
    non_camel_case_types,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason
)]
pub(crate) enum hello {}
impl ::runtime::extend::DeclaredCommand for hello {
    const NAME: &'static str = "say-hello";
    const DESCRIPTION: &'static str = "Say hello to somebody, by name.";
    const HIDDEN: bool = true;
    const SCOPES: &'static [&'static str] = &["system:read", "files:read"];
    fn arguments() -> ::std::vec::Vec<::runtime::commands::Argument> {
        ::std::vec![
            ::runtime::extend::declare:: < String > ("name", "Whom to greet.",
            ::std::option::Option::Some(::std::convert::Into:: < String >
            ::into("World"))), ::runtime::extend::declare:: < Option < i64 > > ("times",
            "", ::std::option::Option::None), ::runtime::extend::declare:: < bool >
            ("loud", "", ::std::option::Option::None)
        ]
    }
    async fn call(
        mut arguments: ::runtime::commands::Arguments,
    ) -> ::std::result::Result<
        ::runtime::extend::Value,
        ::runtime::commands::CommandError,
    > {
        let argument_0: String = ::runtime::extend::take(&mut arguments, "name")?;
        let argument_1: Option<i64> = ::runtime::extend::take(&mut arguments, "times")?;
        let argument_2: bool = ::runtime::extend::take(&mut arguments, "loud")?;
        ::runtime::extend::written(hello(argument_0, argument_1, argument_2).await?)
    }
}
